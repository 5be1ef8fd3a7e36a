import { createHash } from 'node:crypto'
import type { CodeHost, HostClient, HostPage } from '../../codehosts/code-host.ts'
import type { HostChangeCommit, HostReview } from '../../codehosts/host-change.ts'
import type { HostAccount, HostRepository } from '../../codehosts/host-repository.ts'
import type { HostAnnotation, HostCheck, HostCommit, HostJob, HostRun } from '../../codehosts/host-run.ts'
import { HOST } from './company.ts'

/** What the story has told about a commit, a run and a pull request. */
type Facts = {
  commits: Map<string, HostCommit>
  runs: Map<string, HostRun>
  jobs: Map<string, HostJob[]>
  annotations: Map<string, HostAnnotation[]>
  logs: Map<string, string>
  pullRequestCommits: Map<string, HostChangeCommit[]>
  changedFiles: Map<string, string[]>
  reviews: Map<string, HostReview[]>
  checks: Map<string, HostCheck[]>
  accounts: Map<string, HostAccount>
}

/**
 * The code host of the fictional company. It answers from what the story has told so far, and
 * contacts nobody.
 */
export class DemoHost implements CodeHost {
  readonly facts: Facts = {
    commits: new Map(),
    runs: new Map(),
    jobs: new Map(),
    annotations: new Map(),
    logs: new Map(),
    pullRequestCommits: new Map(),
    changedFiles: new Map(),
    reviews: new Map(),
    checks: new Map(),
    accounts: new Map(),
  }
  readonly connects = 'app' as const
  readonly webhooks = {
    hasSignature: () => false,
    verify: async () => false,
    readHead: () => null,
    translate: () => ({ type: 'unknown' as const }),
  }

  host = async () => HOST
  readInstallation = async () => null
  redeliveries = null

  open(): HostClient {
    const { facts } = this
    return {
      ...EMPTY_LISTS,
      readRepository: async () => null,
      readRun: async (_, id, attempt) => facts.runs.get(`${id} ${attempt ?? 1}`) ?? null,
      listJobs: async (_, runId, attempt) => facts.jobs.get(`${runId} ${attempt}`) ?? [],
      listAnnotations: async (_, jobId) => facts.annotations.get(jobId) ?? [],
      readJobLog: async (_, jobId) => facts.logs.get(jobId) ?? null,
      readCommits: async (_, wanted) =>
        wanted.flatMap(({ sha, workflow_path }) => {
          const commit = facts.commits.get(sha)
          if (!commit) return []
          const workflow_blob = workflow_path && createHash('sha1').update(workflow_path).digest('hex')
          return [{ ...commit, workflow_blob }]
        }),
      readBranchHead: async () => null,
      readFile: async (_, { path }) => FILES[path] ?? null,
      readAccount: async (login) => facts.accounts.get(login) ?? null,
      readEnvironment: async (repository, name) => makeEnvironment(repository, name),
      readDeployment: async () => null,
      readAlert: async () => null,
      readPullRequest: async () => null,
      listReviews: async (repository, number) => facts.reviews.get(`${repository.id} ${number}`) ?? [],
      listChecks: async (_, sha) => facts.checks.get(sha) ?? [],
      listPullRequestCommits: async (repository, number) => {
        const commits = facts.pullRequestCommits.get(`${repository.id} ${number}`)
        return commits ? { commits, complete: true } : null
      },
      compareCommits: async () => null,
      listChangedFiles: async (repository, number) => {
        const paths = facts.changedFiles.get(`${repository.id} ${number}`)
        return paths ? { paths, complete: true } : null
      },
      readBranchRules: async () => BRANCH_RULES,
      readCodeOwners: async () => ({ path: '.github/CODEOWNERS', text: CODE_OWNERS }),
      act: async () => {},
      ensureWebhook: async () => {},
      removeWebhooks: async () => {},
    }
  }
}

const NO_PAGE: HostPage<never> = { items: [], next: null, etag: null }
const noPage = async () => NO_PAGE
const nothing = async () => []
const EMPTY_LISTS = {
  listRepositories: noPage,
  listRuns: noPage,
  listDeployments: noPage,
  listAlerts: noPage,
  listPullRequests: noPage,
  listPushes: noPage,
  listDeploymentStatuses: nothing,
  listPendingDeployments: nothing,
  listDeploymentReviews: nothing,
  listFolder: nothing,
  listGateRequests: nothing,
}

export const REQUIRED_CHECKS = ['build', 'test'] as const

const BRANCH_RULES = {
  requires_pull_request: true,
  required_approvals: 1,
  requires_code_owner_review: false,
  required_checks: [...REQUIRED_CHECKS],
  requires_signatures: false,
  blocks_force_pushes: true,
  blocks_deletion: true,
  requires_merge_queue: false,
  complete: true,
}

const CODE_OWNERS = '* @northlane/platform\n/src/payment/ @praman @hweiss\n/terraform/ @isolberg\n'

/** Only production is protected: by our rule, and for one service by reviewers of the host. */
function makeEnvironment(repository: HostRepository, name: string) {
  const open = { name, rule_types: [], reviewers: [], reviewer_teams: [], custom_rules: [] }
  if (name !== 'production') return open
  const custom_rules = [{ app_id: '1', slug: 'shiplock', is_own: true }]
  if (!repository.full_name.endsWith('/identity')) return { ...open, rule_types: ['customRule'], custom_rules }
  return { ...open, rule_types: ['required_reviewers'], reviewers: ['malvarez', 'isolberg'] }
}

const CI = `name: CI
on: [push, pull_request]
jobs:
  lint:
    runs-on: ubuntu-24.04
  build:
    runs-on: ubuntu-24.04
  unit-tests:
    runs-on: ubuntu-24.04
    needs: build
  integration-tests:
    runs-on: ubuntu-24.04
    needs: build
  security-scan:
    runs-on: ubuntu-24.04
    needs: build
  package:
    runs-on: ubuntu-24.04
    needs: [lint, unit-tests, integration-tests, security-scan]
`

const DEPLOY = `name: Deploy
on:
  workflow_run:
    workflows: [CI]
jobs:
  development:
    runs-on: ubuntu-24.04
    environment: development
  staging:
    runs-on: ubuntu-24.04
    needs: development
    environment: staging
  smoke-tests:
    runs-on: ubuntu-24.04
    needs: staging
  production:
    runs-on: ubuntu-24.04
    needs: [staging, smoke-tests]
    environment: production
`

const NIGHTLY = `name: Nightly scan
on:
  schedule:
    - cron: '30 2 * * *'
jobs:
  dependencies:
    runs-on: ubuntu-24.04
  code:
    runs-on: ubuntu-24.04
  report:
    runs-on: ubuntu-24.04
    needs: [dependencies, code]
`

/** The workflow files of the fictional company. */
const FILES: Record<string, string> = {
  '.github/workflows/ci.yml': CI,
  '.github/workflows/deploy.yml': DEPLOY,
  '.github/workflows/nightly.yml': NIGHTLY,
}
