DROP TABLE WorkQueue;
