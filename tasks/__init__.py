"""The edge of the workers: queues, thin tasks, timetable, consumer, supervisor, command line."""
