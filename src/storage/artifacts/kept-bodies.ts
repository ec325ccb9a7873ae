/** Which bodies of an attempt a tenant keeps. */
export type KeptBodies = {
  requestBodies: boolean;
  /** Only bodies longer than the log keeps. */
  responseBodies: boolean;
  /** Days; null: as long as the operator allows. */
  days: number | null;
};
