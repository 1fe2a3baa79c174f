"""The queue engines that hand out work, behind one interface of four functions."""
