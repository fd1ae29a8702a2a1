/** The tables in which the agent's checkpoints are kept. */
export interface CheckpointTables {}
