const GROUP = '/api/v4/groups/{id}'
const PROJECT = '/api/v4/projects/{id}'
const COMMIT = `${PROJECT}/repository/commits/{sha}`
const MERGE_REQUEST = `${PROJECT}/merge_requests/{iid}`

const hooksOf = (scope: string) => [
  `GET ${scope}/hooks`,
  `POST ${scope}/hooks`,
  `PUT ${scope}/hooks/{hook_id}`,
  `POST ${scope}/hooks/{hook_id}/test/{trigger}`,
  `DELETE ${scope}/hooks/{hook_id}`,
]

/** The pages below `https://docs.gitlab.com/api/`, and the operations that each one documents. */
const DOCUMENTED: Readonly<Record<string, readonly string[]>> = {
  version: ['GET /api/v4/version'],
  users: ['GET /api/v4/user', 'GET /api/v4/users', 'GET /api/v4/users/{id}'],
  namespaces: ['GET /api/v4/namespaces/{id}'],
  groups: [`GET ${GROUP}`, `GET ${GROUP}/projects`],
  members: [`GET ${GROUP}/members/all/{user_id}`],
  group_webhooks: hooksOf(GROUP),
  project_webhooks: hooksOf(PROJECT),
  projects: [`GET ${PROJECT}`],
  repositories: [`GET ${PROJECT}/repository/tree`, `GET ${PROJECT}/repository/blobs/{sha}`],
  repository_files: [`GET ${PROJECT}/repository/files/{path}`],
  branches: [`GET ${PROJECT}/repository/branches`, `GET ${PROJECT}/repository/branches/{branch}`],
  lint: [`GET ${PROJECT}/ci/lint`],
  commits: [
    `GET ${PROJECT}/repository/commits`,
    `GET ${COMMIT}`,
    `GET ${COMMIT}/signature`,
    `GET ${COMMIT}/merge_requests`,
    `GET ${COMMIT}/statuses`,
    `GET ${COMMIT}/comments`,
    `POST ${COMMIT}/comments`,
    `POST ${PROJECT}/statuses/{sha}`,
  ],
  events: [`GET ${PROJECT}/events`],
  pipelines: [`GET ${PROJECT}/pipelines`, `GET ${PROJECT}/pipelines/{pipeline_id}`],
  jobs: [
    `GET ${PROJECT}/pipelines/{pipeline_id}/jobs`,
    `GET ${PROJECT}/pipelines/{pipeline_id}/bridges`,
    `GET ${PROJECT}/jobs/{job_id}`,
    `GET ${PROJECT}/jobs/{job_id}/trace`,
    `POST ${PROJECT}/jobs/{job_id}/play`,
  ],
  deployments: [
    `GET ${PROJECT}/deployments`,
    `GET ${PROJECT}/deployments/{deployment_id}`,
    `POST ${PROJECT}/deployments/{deployment_id}/approval`,
  ],
  environments: [`GET ${PROJECT}/environments`],
  protected_environments: [`GET ${PROJECT}/protected_environments/{name}`],
  merge_requests: [
    `GET ${PROJECT}/merge_requests`,
    `GET ${MERGE_REQUEST}`,
    `GET ${MERGE_REQUEST}/commits`,
    `GET ${MERGE_REQUEST}/diffs`,
  ],
  merge_request_approvals: [`GET ${MERGE_REQUEST}/approvals`, `GET ${PROJECT}/approval_rules`],
  notes: [`GET ${MERGE_REQUEST}/notes`, `POST ${MERGE_REQUEST}/notes`],
  merge_trains: [`GET ${PROJECT}/merge_trains/merge_requests/{iid}`],
  protected_branches: [`GET ${PROJECT}/protected_branches`],
  project_push_rules: [`GET ${PROJECT}/push_rule`],
  status_checks: [`GET ${PROJECT}/external_status_checks`],
  project_vulnerabilities: [`GET ${PROJECT}/vulnerabilities`],
  vulnerabilities: ['GET /api/v4/vulnerabilities/{id}'],
  'graphql/reference': ['POST /api/graphql'],
}

/** GitLab's page about each operation that the fake answers. */
export const GITLAB_PAGES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(DOCUMENTED).flatMap(([page, operations]) =>
    operations.map((operation) => [operation, `https://docs.gitlab.com/api/${page}/`]),
  ),
)
