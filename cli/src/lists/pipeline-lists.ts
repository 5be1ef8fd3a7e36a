import { listCommand, PROVIDER, shortCommit, shortTime, WINDOW } from './list-command.ts'

const DEPLOYMENT_STATUSES = [
  'pending_approval',
  'approved',
  'rejected',
  'in_progress',
  'success',
  'failure',
  'cancelled',
  'expired',
  'rolled_back',
]

export const deploymentsCommand = listCommand({
  name: 'deployments',
  summary: 'List deployments',
  details: ['Lists deployments, newest first. "shiplock approve ID" and "shiplock reject ID" answer a pending one.'],
  examples: [
    'shiplock deployments --status pending_approval',
    'shiplock deployments --environment production --repository acme/shop --limit 10',
  ],
  path: '/v1/deployments',
  scope: 'read:deployments',
  pageMax: 100,
  filters: {
    ...WINDOW,
    status: { type: 'text', value: 'STATUS', about: 'only those with this status', choices: DEPLOYMENT_STATUSES },
    environment: { type: 'text', value: 'E', about: 'only those to the environment with exactly this name' },
    repository: { type: 'text', value: 'R', about: 'only those of this repository, as owner/name' },
    workflow: { type: 'text', value: 'NAME', about: 'only those of workflows with exactly this name' },
    'workflow-path': { type: 'text', value: 'PATH', about: 'only those of this workflow file' },
  },
  columns: [
    { heading: 'ID', text: ({ id }) => id },
    { heading: 'STATUS', text: ({ status }) => status },
    { heading: 'ENVIRONMENT', text: ({ environment }) => environment, isFlexible: true },
    { heading: 'REPOSITORY', text: ({ repository_full_name }) => repository_full_name, isFlexible: true },
    { heading: 'BRANCH', text: ({ branch }) => branch, isFlexible: true, isOptional: true },
    { heading: 'COMMIT', text: ({ commit_sha }) => shortCommit(commit_sha), isOptional: true },
    { heading: 'CREATED', text: ({ created_at }) => shortTime(created_at), isOptional: true },
  ],
})

export const runsCommand = listCommand({
  name: 'runs',
  summary: 'List pipeline runs',
  details: ['Lists the runs of connected code hosts and of other CI systems, newest first.'],
  examples: ['shiplock runs --status failure --since 7d', 'shiplock runs --limit 200 --json'],
  path: '/v1/runs',
  scope: 'read:pipelines',
  pageMax: 100,
  filters: {
    ...WINDOW,
    status: {
      type: 'text',
      value: 'STATUS',
      about: 'only those with this status',
      choices: ['queued', 'in_progress', 'success', 'failure', 'cancelled', 'timed_out', 'skipped'],
    },
  },
  columns: [
    { heading: 'ID', text: ({ id }) => id },
    { heading: 'STATUS', text: ({ status }) => status },
    { heading: 'WORKFLOW', text: ({ workflow_name }) => workflow_name, isFlexible: true },
    { heading: 'REPOSITORY', text: ({ repository_full_name }) => repository_full_name, isFlexible: true },
    { heading: 'BRANCH', text: ({ branch }) => branch, isFlexible: true, isOptional: true },
    { heading: 'COMMIT', text: ({ commit_sha }) => shortCommit(commit_sha), isOptional: true },
    { heading: 'TRUST', text: ({ trust }) => trust, isOptional: true },
    { heading: 'STARTED', text: ({ started_at }) => shortTime(started_at), isOptional: true },
  ],
})

const DEVIATIONS = [
  'direct_push',
  'self_approved',
  'no_review',
  'stale_review',
  'check_failed',
  'bypassed_protection',
  'unsigned_commit',
]

export const changesCommand = listCommand({
  name: 'changes',
  summary: 'List the changes that landed on branches',
  details: ['Lists the records of landed pull requests and pushes, newest first, with their deviations.'],
  examples: [
    'shiplock changes --repository acme/shop --branch main --since 7d',
    'shiplock changes --deviation no_review',
  ],
  path: '/v1/changes',
  scope: 'read:attestations',
  pageMax: 100,
  filters: {
    ...WINDOW,
    repository: { type: 'text', value: 'R', about: 'only those of this repository, as owner/name' },
    provider: PROVIDER,
    branch: { type: 'text', value: 'B', about: 'only those of the branch with exactly this name' },
    deviation: { type: 'text', value: 'CODE', about: 'only those with this deviation', choices: DEVIATIONS },
    commit: { type: 'text', value: 'SHA', about: 'only those that contain this commit' },
  },
  columns: [
    { heading: 'ID', text: ({ id }) => id },
    { heading: 'LANDED', text: ({ landed_at }) => shortTime(landed_at), isOptional: true },
    { heading: 'REPOSITORY', text: ({ repository }) => repository.full_name, isFlexible: true },
    { heading: 'BRANCH', text: ({ branch }) => branch, isFlexible: true, isOptional: true },
    { heading: 'COMMIT', text: ({ commits }) => shortCommit(commits.merge), isOptional: true },
    {
      heading: 'CHANGE',
      text: ({ pull_request, landed_by }) =>
        pull_request === null ? landed_by : `#${pull_request.number} ${pull_request.title}`,
      isFlexible: true,
    },
    {
      heading: 'DEVIATIONS',
      text: ({ deviations }) => deviations.join(', '),
      isFlexible: true,
    },
  ],
})
