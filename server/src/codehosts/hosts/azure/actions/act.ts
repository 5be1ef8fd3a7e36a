import type { KeyObject } from 'node:crypto'
import { shortened } from '../../../../platform/shortened.ts'
import { type HostAction, type HostClient, HostRefusal } from '../../../code-host.ts'
import { restPath } from '../../../kit/rest-client.ts'
import type { AzureApi } from '../client.ts'
import { answerCheck, commentCheck } from '../actions.ts'
import { sendDismissal, sendReopening } from './send-dismissal.ts'

const DESCRIPTION_CHARS_MAX = 400
const GENRE = 'shiplock'

export function act(api: AzureApi, sealingKey: KeyObject): HostClient['act'] {
  return async (action) => {
    switch (action.type) {
      case 'decision':
        return answerCheck(api, sealingKey, action)
      case 'comment':
        return commentCheck(api, sealingKey, action)
      case 'dismissal':
        return sendDismissal(api, action)
      case 'reopening':
        return sendReopening(api, action)
      case 'commit_status':
        return sendCommitStatus(api, action)
    }
  }
}

/** A newer status with the same context replaces an older one. */
async function sendCommitStatus(api: AzureApi, action: Extract<HostAction, { type: 'commit_status' }>): Promise<void> {
  const { repository, commit_sha, context, state, description, url } = action
  const project = await api.projectOf(repository)
  if (project === null) throw new HostRefusal(404, 'The repository does not exist, or may not be read.')
  await api.request({
    method: 'POST',
    path: restPath`/${project}/_apis/git/repositories/${repository.id}/commits/${commit_sha}/statuses`,
    body: {
      state: state === 'success' ? 'succeeded' : 'failed',
      description: shortened(description, DESCRIPTION_CHARS_MAX),
      context: contextOf(context),
      ...(url === null ? {} : { targetUrl: url }),
    },
  })
}

/** `genre/name`, as the status is shown. */
function contextOf(context: string): { genre: string; name: string } {
  const at = context.lastIndexOf('/')
  return at < 0 ? { genre: GENRE, name: context } : { genre: context.slice(0, at), name: context.slice(at + 1) }
}
