import type { HostRepository } from '../../host-repository.ts'
import { readEnd } from '../../kit/read-log-end.ts'
import { restPath } from '../../kit/rest-client.ts'
import type { GitlabApi } from '../client/gitlab-api.ts'
import { projectPath } from '../client/session.ts'

/** `section_start:1560896352:step_script`, with which the runner marks parts that can be folded. */
const SECTION = /section_(?:start|end):\d+:[^\r\n]{0,200}\r?/g
/** What follows such a mark: it makes terminals forget the line. */
const ERASE_LINE = '\u001b[0K'
/** `2026-05-22T12:43:46.962646Z 01O `, with which newer runners begin each line. */
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]{8,20}Z \d\d[OE][+ ]/gm

/** The end of a job's log, without the marks of the runner. */
export async function readJobLog(
  api: GitlabApi,
  repository: HostRepository,
  jobId: string,
  bytesMax: number,
): Promise<string | null> {
  const log = await api.openText(`${projectPath(repository)}${restPath`/jobs/${jobId}/trace`}`)
  if (log === null) return null
  return (await readEnd(log, bytesMax)).replaceAll(SECTION, '').replaceAll(ERASE_LINE, '').replaceAll(TIME, '')
}
