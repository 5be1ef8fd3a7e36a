type Operation = {
  query?: readonly string[]
  /** The shape of the answer, or of its items. */
  answer?: string
  list?: boolean
  status?: number
}

const PIPELINE =
  'one created waiting_for_resource preparing pending running success failed canceled skipped manual scheduled'

/** Fields with their types; those with `?` may be missing. Written from GitLab's documentation. */
export const SHAPES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  version: { version: 'string', revision: 'string' },
  user: { id: 'id', username: 'string', name: 'string', state: 'string', avatar_url: 'string', web_url: 'string' },
  group: {
    ...{ id: 'id', name: 'string', path: 'string', full_path: 'string', web_url: 'string', visibility: 'string' },
    parent_id: 'integer',
  },
  project: {
    ...{ id: 'id', name: 'string', path_with_namespace: 'string', default_branch: 'string', web_url: 'string' },
    ...{ visibility: 'one private internal public', archived: 'boolean', 'ci_config_path?': 'string' },
    ...{ 'merge_trains_enabled?': 'boolean', 'only_allow_merge_if_pipeline_succeeds?': 'boolean' },
    ...{ 'only_allow_merge_if_all_status_checks_passed?': 'boolean', created_at: 'time', 'updated_at?': 'time' },
    namespace: 'namespace',
  },
  namespace: { id: 'id', kind: 'one group user', full_path: 'string', parent_id: 'integer' },
  message: { message: 'string' },
  hook: {
    ...{ id: 'id', url: 'string', created_at: 'time', enable_ssl_verification: 'boolean', push_events: 'boolean' },
    ...{ 'token_present?': 'boolean', 'signing_token_present?': 'boolean', 'disabled_until?': 'time' },
    'alert_status?': 'one executable temporarily_disabled disabled',
  },
  entry: { id: 'string', name: 'string', type: 'one blob tree commit', path: 'string', mode: 'string' },
  blob: { size: 'integer', encoding: 'one base64', content: 'string', sha: 'string' },
  file: { file_path: 'string', encoding: 'one base64', content: 'string', ref: 'string', blob_id: 'string' },
  branch: { name: 'string', 'commit?': 'commit' },
  lint: { valid: 'boolean', merged_yaml: 'string', errors: 'string[]', warnings: 'string[]' },
  commit: {
    ...{ id: 'string', short_id: 'string', title: 'string', message: 'string', parent_ids: 'string[]' },
    ...{ author_name: 'string', author_email: 'string', authored_date: 'time', committer_name: 'string' },
    ...{ committer_email: 'string', committed_date: 'time', created_at: 'time' },
  },
  signature: { signature_type: 'one PGP SSH X509', verification_status: 'string' },
  status: {
    ...{ id: 'id', sha: 'string', name: 'string', status: PIPELINE, target_url: 'string', created_at: 'time' },
    ...{ started_at: 'time', finished_at: 'time', 'description?': 'string' },
  },
  comment: { note: 'string', author: 'user', created_at: 'time' },
  event: {
    id: 'id',
    project_id: 'integer',
    action_name: 'string',
    created_at: 'time',
    author: 'user',
    push_data: 'pushed',
  },
  pushed: {
    ...{ commit_count: 'integer', action: 'one created removed pushed', ref_type: 'one branch tag' },
    ...{ commit_from: 'string', commit_to: 'string', ref: 'string', commit_title: 'string' },
  },
  pipeline: {
    ...{ id: 'id', iid: 'integer', project_id: 'integer', sha: 'string', ref: 'string', status: PIPELINE },
    ...{ source: 'string', created_at: 'time', updated_at: 'time', web_url: 'string', 'name?': 'string' },
  },
  wholePipeline: {
    ...{ id: 'id', iid: 'integer', sha: 'string', ref: 'string', status: PIPELINE, source: 'string', tag: 'boolean' },
    ...{ user: 'user', created_at: 'time', updated_at: 'time', started_at: 'time', finished_at: 'time' },
  },
  job: {
    ...{ id: 'id', name: 'string', stage: 'string', status: PIPELINE, allow_failure: 'boolean', created_at: 'time' },
    ...{ started_at: 'time', finished_at: 'time', web_url: 'string', user: 'user', commit: 'commit' },
    ...{ pipeline: 'pipeline', 'runner?': 'object', 'failure_reason?': 'string' },
  },
  deployment: {
    ...{ id: 'id', iid: 'integer', ref: 'string', sha: 'string', created_at: 'time', updated_at: 'time' },
    ...{ status: 'one created running success failed canceled skipped blocked', user: 'user' },
    ...{ environment: 'environment', deployable: 'job', 'approvals?': 'approval[]' },
  },
  member: { id: 'id', username: 'string', access_level: 'integer' },
  approval: { user: 'user', status: 'one approved rejected', created_at: 'time', comment: 'string' },
  environment: { id: 'id', name: 'string', 'external_url?': 'string' },
  protection: {
    name: 'string',
    deploy_access_levels: 'level[]',
    required_approval_count: 'integer',
    approval_rules: 'level[]',
  },
  level: {
    ...{ user_id: 'integer', group_id: 'integer', access_level: 'integer', access_level_description: 'string' },
    'required_approvals?': 'integer',
  },
  mergeRequest: {
    ...{ id: 'id', iid: 'id', project_id: 'integer', title: 'string', state: 'one opened closed locked merged' },
    ...{ draft: 'boolean', author: 'user', source_branch: 'string', target_branch: 'string', web_url: 'string' },
    ...{ source_project_id: 'integer', target_project_id: 'integer', sha: 'string', merge_commit_sha: 'string' },
    ...{ squash_commit_sha: 'string', merge_user: 'user', created_at: 'time', updated_at: 'time', merged_at: 'time' },
    ...{ closed_at: 'time', 'diff_refs?': 'diffRefs', 'changes_count?': 'string' },
  },
  diffRefs: { base_sha: 'string', start_sha: 'string', head_sha: 'string' },
  approvals: { approved_by: 'approver[]' },
  approver: { user: 'user', 'approved_at?': 'time' },
  note: { id: 'id', body: 'string', system: 'boolean', author: 'user', created_at: 'time' },
  diff: {
    old_path: 'string',
    new_path: 'string',
    new_file: 'boolean',
    renamed_file: 'boolean',
    deleted_file: 'boolean',
  },
  car: { id: 'id', status: 'one idle merged stale fresh merging skip_merged', target_branch: 'string' },
  protectedBranch: {
    ...{ name: 'string', push_access_levels: 'object[]', merge_access_levels: 'object[]' },
    ...{ allow_force_push: 'boolean', 'code_owner_approval_required?': 'boolean' },
  },
  approvalRule: {
    id: 'id',
    name: 'string',
    rule_type: 'string',
    approvals_required: 'integer',
    protected_branches: 'object[]',
  },
  pushRule: { id: 'id', reject_unsigned_commits: 'boolean' },
  statusCheck: { id: 'id', name: 'string', external_url: 'string', protected_branches: 'object[]' },
  vulnerability: {
    ...{ id: 'id', title: 'string', description: 'string', severity: 'one critical high medium low info unknown' },
    ...{ state: 'one detected confirmed dismissed resolved', report_type: 'string', project: 'object' },
    ...{ finding: 'object', created_at: 'time', updated_at: 'time', dismissed_at: 'time', dismissed_by_id: 'integer' },
    ...{ resolved_at: 'time', resolved_on_default_branch: 'boolean' },
  },
  data: { 'data?': 'object', 'errors?': 'object[]' },
}

const GROUP = '/api/v4/groups/{id}'
const PROJECT = '/api/v4/projects/{id}'
const COMMIT = `${PROJECT}/repository/commits/{sha}`
const MERGE_REQUEST = `${PROJECT}/merge_requests/{iid}`
const list = (answer: string, ...query: string[]): Operation => ({ answer, query, list: true })
const one = (answer: string, ...query: string[]): Operation => ({ answer, query })
const made = (answer: string): Operation => ({ answer, status: 201 })

/** The operations that we use, with the parameters that the documentation names. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  'GET /api/v4/version': one('version'),
  'GET /api/v4/user': one('user'),
  'GET /api/v4/users': list('user', 'username'),
  'GET /api/v4/users/{id}': one('user'),
  'GET /api/v4/namespaces/{id}': one('group'),
  [`GET ${GROUP}`]: one('group', 'with_projects'),
  [`GET ${GROUP}/members/all/{user_id}`]: one('member'),
  [`GET ${GROUP}/projects`]: list('project', 'include_subgroups', 'with_shared', 'order_by', 'sort', 'simple'),
  [`GET ${GROUP}/hooks`]: list('hook'),
  [`POST ${GROUP}/hooks`]: made('hook'),
  [`PUT ${GROUP}/hooks/{hook_id}`]: one('hook'),
  [`POST ${GROUP}/hooks/{hook_id}/test/{trigger}`]: made('message'),
  [`DELETE ${GROUP}/hooks/{hook_id}`]: { status: 204 },
  [`GET ${PROJECT}`]: one('project'),
  [`GET ${PROJECT}/hooks`]: list('hook'),
  [`POST ${PROJECT}/hooks`]: made('hook'),
  [`PUT ${PROJECT}/hooks/{hook_id}`]: one('hook'),
  [`POST ${PROJECT}/hooks/{hook_id}/test/{trigger}`]: made('message'),
  [`DELETE ${PROJECT}/hooks/{hook_id}`]: { status: 204 },
  [`GET ${PROJECT}/repository/tree`]: list('entry', 'path', 'ref', 'recursive'),
  [`GET ${PROJECT}/repository/blobs/{sha}`]: one('blob'),
  [`GET ${PROJECT}/repository/files/{path}`]: one('file', 'ref'),
  [`GET ${PROJECT}/repository/branches`]: list('branch'),
  [`GET ${PROJECT}/repository/branches/{branch}`]: one('branch'),
  [`GET ${PROJECT}/ci/lint`]: one('lint', 'sha', 'dry_run', 'include_jobs'),
  [`GET ${PROJECT}/repository/commits`]: list('commit', 'ref_name'),
  [`GET ${COMMIT}`]: one('commit'),
  [`GET ${COMMIT}/signature`]: one('signature'),
  [`GET ${COMMIT}/merge_requests`]: list('mergeRequest', 'state'),
  [`GET ${COMMIT}/statuses`]: list('status', 'ref', 'stage', 'name', 'all'),
  [`GET ${COMMIT}/comments`]: list('comment'),
  [`POST ${COMMIT}/comments`]: made('comment'),
  [`POST ${PROJECT}/statuses/{sha}`]: made('status'),
  [`GET ${PROJECT}/events`]: list('event', 'action', 'after', 'before', 'sort'),
  [`GET ${PROJECT}/pipelines`]: list('pipeline', 'order_by', 'sort', 'updated_after', 'source'),
  [`GET ${PROJECT}/pipelines/{pipeline_id}`]: one('wholePipeline'),
  [`GET ${PROJECT}/pipelines/{pipeline_id}/jobs`]: list('job', 'include_retried', 'scope'),
  [`GET ${PROJECT}/pipelines/{pipeline_id}/bridges`]: list('job', 'scope'),
  [`GET ${PROJECT}/jobs/{job_id}`]: one('job'),
  [`GET ${PROJECT}/jobs/{job_id}/trace`]: {},
  [`POST ${PROJECT}/jobs/{job_id}/play`]: one('job'),
  [`GET ${PROJECT}/deployments`]: list('deployment', 'order_by', 'sort', 'environment', 'status', 'updated_after'),
  [`GET ${PROJECT}/deployments/{deployment_id}`]: one('deployment'),
  [`POST ${PROJECT}/deployments/{deployment_id}/approval`]: made('approval'),
  [`GET ${PROJECT}/environments`]: list('environment', 'name', 'search', 'states'),
  [`GET ${PROJECT}/protected_environments/{name}`]: one('protection'),
  [`GET ${PROJECT}/merge_requests`]: list('mergeRequest', 'scope', 'state', 'order_by', 'sort', 'updated_after'),
  [`GET ${MERGE_REQUEST}`]: one('mergeRequest'),
  [`GET ${MERGE_REQUEST}/approvals`]: one('approvals'),
  [`GET ${MERGE_REQUEST}/notes`]: list('note', 'order_by', 'sort'),
  [`POST ${MERGE_REQUEST}/notes`]: made('note'),
  [`GET ${MERGE_REQUEST}/commits`]: list('commit'),
  [`GET ${MERGE_REQUEST}/diffs`]: list('diff', 'unidiff'),
  [`GET ${PROJECT}/merge_trains/merge_requests/{iid}`]: one('car'),
  [`GET ${PROJECT}/protected_branches`]: list('protectedBranch', 'search'),
  [`GET ${PROJECT}/approval_rules`]: list('approvalRule'),
  [`GET ${PROJECT}/push_rule`]: one('pushRule'),
  [`GET ${PROJECT}/external_status_checks`]: list('statusCheck'),
  [`GET ${PROJECT}/vulnerabilities`]: list('vulnerability'),
  'GET /api/v4/vulnerabilities/{id}': one('vulnerability'),
  'POST /api/graphql': one('data'),
}

const EVENTS = [
  ...['push', 'tag_push', 'merge_requests', 'note', 'confidential_note', 'issues', 'confidential_issues', 'pipeline'],
  ...['job', 'deployment', 'wiki_page', 'releases', 'feature_flag', 'milestone', 'emoji', 'vulnerability'],
  ...['resource_access_token', 'subgroup', 'member', 'project'],
]

const HOOK = {
  ...{ url: 'string', 'token?': 'string', 'signing_token?': 'string', 'enable_ssl_verification?': 'boolean' },
  ...{ 'push_events_branch_filter?': 'string', 'branch_filter_strategy?': 'one all_branches wildcard regex' },
  ...Object.fromEntries(EVENTS.map((event) => [`${event}_events?`, 'boolean'])),
}

/** What requests contain. */
export const BODIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  [`POST ${GROUP}/hooks`]: HOOK,
  [`PUT ${GROUP}/hooks/{hook_id}`]: HOOK,
  [`POST ${PROJECT}/hooks`]: HOOK,
  [`PUT ${PROJECT}/hooks/{hook_id}`]: HOOK,
  [`POST ${COMMIT}/comments`]: { note: 'string' },
  [`POST ${MERGE_REQUEST}/notes`]: { body: 'string' },
  [`POST ${PROJECT}/statuses/{sha}`]: {
    ...{ state: 'one pending running success failed canceled skipped', 'name?': 'string', 'target_url?': 'string' },
    'description?': 'string',
  },
  [`POST ${PROJECT}/deployments/{deployment_id}/approval`]: { status: 'one approved rejected', 'comment?': 'string' },
  'POST /api/graphql': { query: 'string', 'variables?': 'object' },
}
