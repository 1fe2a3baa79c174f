"""A queue that delivers jobs twice, late, out of order or never, between processes: the laws may not rest on the engine."""


class HostileQueue:
    pass
