/**
 * Ids of builds are unique within an organization only, so the id of a run contains the project.
 */
export type BuildName = { project: string; build: number }

const GUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const RUN_ID = new RegExp(`^(${GUID})_([1-9]\\d{0,9})$`)
const JOB_ID = new RegExp(`^(${GUID}_[1-9]\\d{0,9})_([1-9]\\d{0,5})_(${GUID})$`)

export function runIdOf({ project, build }: BuildName): string {
  return `${project.toLowerCase()}_${build}`
}

/** Null for a text that is no id of a run. */
export function parseRunId(id: string): BuildName | null {
  const [, project, build] = RUN_ID.exec(id) ?? []
  return project === undefined ? null : { project, build: Number(build) }
}

/** Records of a timeline have the same id in every run of a pipeline and in every attempt. */
export type JobName = BuildName & { attempt: number; record: string }

export function jobIdOf({ attempt, record, ...build }: JobName): string {
  return `${runIdOf(build)}_${attempt}_${record.toLowerCase()}`
}

export function parseJobId(id: string): JobName | null {
  const [, run = '', attempt, record = ''] = JOB_ID.exec(id) ?? []
  const build = parseRunId(run)
  return build && { ...build, attempt: Number(attempt), record }
}
