const REPOSITORY = '/2.0/repositories/{workspace}/{repo_slug}'
const PIPELINE = `${REPOSITORY}/pipelines/{pipeline_uuid}`
const PULL = `${REPOSITORY}/pullrequests/{pull_request_id}`
const COMMIT = `${REPOSITORY}/commit/{commit}`

const hooksOf = (scope: string) => [
  `GET ${scope}/hooks`,
  `POST ${scope}/hooks`,
  `PUT ${scope}/hooks/{uid}`,
  `DELETE ${scope}/hooks/{uid}`,
]

/** The groups of Bitbucket's reference, and the operations that each one documents. */
const DOCUMENTED: Readonly<Record<string, readonly string[]>> = {
  workspaces: ['GET /2.0/workspaces/{workspace}', ...hooksOf('/2.0/workspaces/{workspace}')],
  repositories: ['GET /2.0/repositories/{workspace}', `GET ${REPOSITORY}`, ...hooksOf(REPOSITORY)],
  commits: [
    `GET ${COMMIT}`,
    `GET ${REPOSITORY}/commits`,
    `GET ${REPOSITORY}/commits/{revision}`,
    `GET ${COMMIT}/comments`,
    `POST ${COMMIT}/comments`,
  ],
  'commit-statuses': [`GET ${COMMIT}/statuses`, `POST ${COMMIT}/statuses/build`],
  refs: [`GET ${REPOSITORY}/refs/branches/{name+}`],
  source: [`GET ${REPOSITORY}/src/{commit}/{path+}`],
  deployments: [
    `GET ${REPOSITORY}/environments`,
    `GET ${REPOSITORY}/deployments`,
    `GET ${REPOSITORY}/deployments/{deployment_uuid}`,
  ],
  pipelines: [
    `GET ${REPOSITORY}/pipelines`,
    `GET ${PIPELINE}`,
    `GET ${PIPELINE}/steps`,
    `GET ${PIPELINE}/steps/{step_uuid}/log`,
  ],
  pullrequests: [
    `GET ${REPOSITORY}/pullrequests`,
    `GET ${PULL}`,
    `GET ${PULL}/activity`,
    `GET ${PULL}/commits`,
    `GET ${PULL}/diffstat`,
    `GET ${COMMIT}/pullrequests`,
  ],
  reports: [`GET ${COMMIT}/reports`, `GET ${COMMIT}/reports/{report_id}/annotations`],
  'branch-restrictions': [`GET ${REPOSITORY}/branch-restrictions`],
  'branching-model': [`GET ${REPOSITORY}/effective-branching-model`],
}

/** `GET /2.0/a/{b_c}` is at `#api-a-b-c-get`. */
function addressOf(group: string, operation: string): string {
  const [method = '', path = ''] = operation.toLowerCase().split(' ')
  const place = path.replace('/2.0', '').replaceAll(/[{}+]/g, '').replaceAll(/[/_]/g, '-')
  return `https://developer.atlassian.com/cloud/bitbucket/rest/api-group-${group}/#api${place}-${method}`
}

/** Atlassian's page about each operation that the fake answers. */
export const BITBUCKET_PAGES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(DOCUMENTED).flatMap(([group, operations]) =>
      operations.map((operation) => [operation, addressOf(group, operation)]),
    ),
  ),
  'POST /site/oauth2/access_token': 'https://support.atlassian.com/bitbucket-cloud/docs/use-oauth-on-bitbucket-cloud/',
  // Where Bitbucket redirects to.
  [`GET ${PULL}/diffstat/compared`]: addressOf('pullrequests', `GET ${PULL}/diffstat`),
  'GET /storage/{name}': addressOf('pipelines', `GET ${PIPELINE}/steps/{step_uuid}/log`),
}
