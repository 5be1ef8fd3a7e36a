import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { truncate } from '../../../platform/text.ts'
import { type ActionSenders, type HostAction, HostRefusal } from '../../code-host.ts'
import { Maybe, readAs, Text } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import type { BitbucketApi } from './client.ts'

/** Bitbucket asks no rule, and its annotations are changed by the tool that reports them only. */
export function createActionSenders(api: BitbucketApi): ActionSenders {
  return {
    decision: async () => {
      throw new HostRefusal(
        409,
        'Bitbucket asks no rule before a deployment: gate the step with `shiplock gate open --wait` instead.',
      )
    },
    comment: (action) => sendComment(api, action),
    dismissal: async () => refuseAlert('dismissed'),
    reopening: async () => refuseAlert('opened again'),
    commit_status: (action) => sendCommitStatus(api, action),
  }
}

function refuseAlert(what: string): never {
  const message = `An annotation of Code Insights cannot be ${what} by the API: the tool that reports it decides.`
  throw new HostRefusal(409, message)
}

const COMMENT_CHARS_MAX = 30_000
const DESCRIPTION_CHARS_MAX = 250
const NAME_CHARS_MAX = 250
/** Longer keys are refused. */
const KEY_CHARS_MAX = 40

const Pipeline = Type.Object({ target: Type.Object({ commit: Type.Object({ hash: Text }) }) })
const Comment = Type.Object({ content: Maybe(Type.Object({ raw: Maybe(Text) })) })

/** Writes a comment on the commit of the run, unless it has the same one. */
async function sendComment(
  api: BitbucketApi,
  { target: { repository, run_id }, text }: Extract<HostAction, { type: 'comment' }>,
): Promise<void> {
  const { body } = await api.rest.request({ path: api.pipelinePath(repository, run_id) })
  const { hash } = readAs(Pipeline, body).target.commit
  const path = api.repositoryPath(repository, encodePath`/commit/${hash}/comments`)
  const raw = truncate(text, COMMENT_CHARS_MAX)
  const written = await api.fetchAll({ path }, (comment) => readAs(Comment, comment))
  if (written.some(({ content }) => content?.raw === raw)) return
  await api.rest.request({ method: 'POST', path, body: { content: { raw } } })
}

/** A status with the same key replaces the former one, so that it may be sent again. */
async function sendCommitStatus(
  api: BitbucketApi,
  action: Extract<HostAction, { type: 'commit_status' }>,
): Promise<void> {
  const { repository, commit_sha: sha, context, state, description, url } = action
  const hash = createHash('sha256').update(context).digest('hex').slice(0, KEY_CHARS_MAX)
  await api.rest.request({
    method: 'POST',
    path: api.repositoryPath(repository, encodePath`/commit/${sha}/statuses/build`),
    body: {
      // A longer context is named by its hash.
      key: context.length <= KEY_CHARS_MAX ? context : hash,
      name: truncate(context, NAME_CHARS_MAX),
      state: state === 'success' ? 'SUCCESSFUL' : 'FAILED',
      description: truncate(description, DESCRIPTION_CHARS_MAX),
      // Bitbucket requires an address.
      url: url ?? `https://${api.addresses.host}/${repository.full_name}/commits/${sha}`,
    },
  })
}
