import type { Json } from '../json.ts'

/** The query parameters that an operation takes, and the body that it wants. */
type Request = { query?: readonly string[]; body?: Json }

/** What every list takes (https://developer.atlassian.com/cloud/bitbucket/rest/intro/#pagination). */
const PAGED = ['page', 'pagelen']
/** Any answer can be limited to some fields (`/intro/#partial-response`). */
const FIELDS = ['fields']
const list = (...query: string[]): Request => ({ query: [...PAGED, ...FIELDS, ...query] })
const one: Request = { query: FIELDS }
const sent = (required: readonly string[], properties: Json): Request => ({
  body: { type: 'object', required, properties, additionalProperties: false },
})

const text = { type: 'string' }
const HOOK = {
  ...{ description: text, url: { type: 'string', format: 'uri' }, active: { type: 'boolean' } },
  ...{ skip_cert_verification: { type: 'boolean' }, events: { type: 'array', items: text, minItems: 1 } },
  secret: { type: ['string', 'null'] },
}
const BUILD = {
  ...{ key: { type: 'string', maxLength: 40 }, name: text, description: text, url: text, refname: text },
  state: { enum: ['FAILED', 'INPROGRESS', 'STOPPED', 'SUCCESSFUL'] },
}
const COMMENT = { content: { type: 'object', required: ['raw'], properties: { raw: text } } }

const hooksOf = (scope: string) => ({
  [`GET ${scope}/hooks`]: list(),
  [`POST ${scope}/hooks`]: sent(['url', 'events'], HOOK),
  [`PUT ${scope}/hooks/{uid}`]: sent(['url', 'events'], HOOK),
  [`DELETE ${scope}/hooks/{uid}`]: {},
})

const REPOSITORY = '/2.0/repositories/{workspace}/{repo_slug}'
const PIPELINE = `${REPOSITORY}/pipelines/{pipeline_uuid}`
const PULL = `${REPOSITORY}/pullrequests/{pull_request_id}`
const COMMIT = `${REPOSITORY}/commit/{commit}`

/** The requests that the pages of `pages.ts` describe. Bitbucket refuses or ignores any other. */
export const OPERATIONS: Readonly<Record<string, Request>> = {
  'GET /2.0/workspaces/{workspace}': one,
  ...hooksOf('/2.0/workspaces/{workspace}'),
  'GET /2.0/repositories/{workspace}': list('role', 'q', 'sort'),
  [`GET ${REPOSITORY}`]: one,
  ...hooksOf(REPOSITORY),
  [`GET ${COMMIT}`]: one,
  [`GET ${REPOSITORY}/commits`]: list('include', 'exclude', 'path'),
  [`GET ${REPOSITORY}/commits/{revision}`]: list('include', 'exclude', 'path'),
  [`GET ${COMMIT}/comments`]: list('q', 'sort'),
  [`POST ${COMMIT}/comments`]: sent(['content'], COMMENT),
  [`GET ${COMMIT}/statuses`]: list('refname', 'q', 'sort'),
  [`POST ${COMMIT}/statuses/build`]: sent(['key', 'state'], BUILD),
  [`GET ${REPOSITORY}/refs/branches/{name+}`]: one,
  [`GET ${REPOSITORY}/src/{commit}/{path+}`]: list('format', 'q', 'sort', 'max_depth'),
  [`GET ${REPOSITORY}/environments`]: list(),
  [`GET ${REPOSITORY}/deployments`]: list('sort'),
  [`GET ${REPOSITORY}/deployments/{deployment_uuid}`]: one,
  [`GET ${REPOSITORY}/pipelines`]: list('sort'),
  [`GET ${PIPELINE}`]: one,
  [`GET ${PIPELINE}/steps`]: list(),
  [`GET ${PIPELINE}/steps/{step_uuid}/log`]: {},
  [`GET ${REPOSITORY}/pullrequests`]: list('state', 'q', 'sort'),
  [`GET ${PULL}`]: one,
  [`GET ${PULL}/activity`]: list(),
  [`GET ${PULL}/commits`]: list(),
  [`GET ${PULL}/diffstat`]: list(),
  [`GET ${COMMIT}/pullrequests`]: list(),
  [`GET ${COMMIT}/reports`]: list(),
  [`GET ${COMMIT}/reports/{report_id}/annotations`]: list(),
  [`GET ${REPOSITORY}/branch-restrictions`]: list('kind', 'pattern'),
  [`GET ${REPOSITORY}/effective-branching-model`]: one,
}
