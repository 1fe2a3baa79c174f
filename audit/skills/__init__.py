"""The skill-contamination study: skills, tasks and conditions become an ordinary replay, and its run folder a recording to analyse."""
