const OF_JOB = /^job (\d{1,16}) (.+)$/

/**
 * Events of jobs name the job and the environment, and not the deployment. The deployment that is
 * read then has its own id.
 */
export function deploymentIdOfJob(jobId: number, environment: string): string {
  return `job ${jobId} ${environment}`
}

/** Null for the id of a deployment. */
export function jobOfDeploymentId(id: string): { id: string; environment: string } | null {
  const [, jobId, environment] = OF_JOB.exec(id) ?? []
  return jobId === undefined || environment === undefined ? null : { id: jobId, environment }
}
