import { shortened } from '../../../platform/shortened.ts'
import type { HostAction } from '../../code-host.ts'
import { restPath } from '../../kit/rest-client.ts'
import { projectPath, type Session } from '../client/session.ts'

const DESCRIPTION_CHARS_MAX = 255

const STATES = { success: 'success', failure: 'failed' } as const

/** A repeated status replaces the one before it. */
export async function sendCommitStatus(
  { api }: Session,
  { repository, commit_sha, context, state, description, url }: Extract<HostAction, { type: 'commit_status' }>,
): Promise<void> {
  await api.send('POST', `${projectPath(repository)}${restPath`/statuses/${commit_sha}`}`, {
    name: context,
    state: STATES[state],
    description: shortened(description, DESCRIPTION_CHARS_MAX),
    ...(url === null ? {} : { target_url: url }),
  })
}
