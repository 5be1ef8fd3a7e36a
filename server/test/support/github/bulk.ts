import { createHash } from 'node:crypto'
import type { State } from './state.ts'
import { ALERT_DETAILS } from './stories/alerts.ts'
import { emptyRepository } from './stories/repositories.ts'
import type {
  Account,
  Alert,
  Attempt,
  BulkSizes,
  Commit,
  Deployment,
  Environment,
  Installation,
  Job,
  Repository,
  Run,
} from './types.ts'

const HOUR_MS = 3_600_000
/** Room for the ids of a repository's objects. */
const IDS_PER_REPOSITORY = 100_000

/**
 * Repositories that are computed when they are read and then forgotten, so that memory stays flat
 * however many there are. Their ids are 1, 2, …; what they contain depends on the id alone.
 */
export class BulkRepositories {
  readonly installation: Installation
  readonly sizes: BulkSizes
  readonly #state: State
  readonly #now: Date
  #last: Repository | null = null

  constructor(state: State, installation: Installation, sizes: BulkSizes) {
    this.#state = state
    this.installation = installation
    this.sizes = sizes
    this.#now = state.clock.now()
  }

  repository(id: number): Repository | undefined {
    if (!(id >= 1 && id <= this.sizes.repositories)) return undefined
    if (this.#last?.id !== id) this.#last = this.#compute(id)
    return this.#last as Repository
  }

  /** The contents are computed when they are first read: a list of repositories needs none. */
  #compute(id: number): Repository {
    const owner = this.installation.account
    const repository = emptyRepository({ state: this.#state }, { id, owner, name: `repository-${id}` })
    const at = (index: number) => new Date(this.#now.getTime() - (index + 1) * HOUR_MS)
    const { runsPerRepository, deploymentsPerRepository = 0, alertsPerRepository = 0 } = this.sizes
    const actor = this.#state.account('ada')
    const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)
    lazily(repository, 'runs', () =>
      numbers(runsPerRepository).map((index) => bulkRun(repository, index, at(index), actor)),
    )
    lazily(repository, 'commits', () => new Map(repository.runs.map((run) => [run.sha, bulkCommit(run)])))
    lazily(repository, 'refs', () => new Map([['refs/heads/main', shaOf(repository, 0)]]))
    repository.environments.set('production', bulkEnvironment(repository))
    lazily(repository, 'deployments', () =>
      numbers(deploymentsPerRepository).map((index) => bulkDeployment(repository, index, at(index), actor)),
    )
    lazily(repository, 'alerts', () =>
      numbers(alertsPerRepository).map((index) => bulkAlert(repository, index, at(index))),
    )
    return repository
  }
}

function lazily<Name extends keyof Repository>(
  repository: Repository,
  name: Name,
  compute: () => Repository[Name],
): void {
  let value: Repository[Name] | undefined
  Object.defineProperty(repository, name, {
    get() {
      value ??= compute()
      return value
    },
  })
}

function idOf(repository: Repository, index: number): number {
  return 10_000_000 + repository.id * IDS_PER_REPOSITORY + index
}

function shaOf(repository: Repository, index: number): string {
  return createHash('sha1').update(`${repository.id} ${index}`).digest('hex')
}

function bulkRun(repository: Repository, index: number, at: Date, actor: Account): Run {
  const path = '.github/workflows/ci.yml'
  const workflow = { id: idOf(repository, 99_999), name: 'CI', path, created_at: repository.created_at, runs: 0 }
  const completed_at = new Date(at.getTime() + 300_000)
  const job: Job = {
    id: idOf(repository, 50_000 + index),
    name: 'build',
    attempt: 1,
    needs: [],
    environment: null,
    environment_url: null,
    deployment: null,
    status: 'completed',
    conclusion: index % 7 === 0 ? 'failure' : 'success',
    steps: [{ name: 'Run build', conclusion: index % 7 === 0 ? 'failure' : 'success' }],
    created_at: at,
    started_at: at,
    completed_at,
    annotations: [],
    log: 'build\n',
  }
  const { conclusion } = job
  const attempt: Attempt = {
    number: 1,
    status: 'completed',
    conclusion,
    actor,
    started_at: at,
    updated_at: completed_at,
    jobs: [job],
  }
  return {
    id: idOf(repository, index),
    check_suite_id: idOf(repository, 80_000 + index),
    repository,
    workflow,
    number: 100_000 - index,
    event: 'push',
    branch: 'main',
    sha: shaOf(repository, index),
    title: `Change ${index}`,
    actor,
    pullRequests: [],
    created_at: at,
    attempts: [attempt],
    approvals: [],
  }
}

const WORKFLOW_FILE = new Map([['.github/workflows/ci.yml', 'on: push\njobs:\n  build:\n    runs-on: ubuntu-latest\n']])

function bulkCommit({ sha, title, actor, created_at }: Run): Commit {
  const author = { name: actor.login, email: `${actor.login}@example.com` }
  const files = WORKFLOW_FILE
  const committer = { committer: author, committerAccount: actor, signature: 'unsigned' }
  return { sha, message: title, author, account: actor, ...committer, at: created_at, parents: [], files, changed: [] }
}

function bulkEnvironment(repository: Repository): Environment {
  const { created_at } = repository
  const rules = { reviewers: [], waitTimer: 0, branches: null, customRules: [] }
  return { id: idOf(repository, 99_998), name: 'production', created_at, ...rules }
}

function bulkDeployment(repository: Repository, index: number, at: Date, creator: Account): Deployment {
  const status = { creator, created_at: at, environment_url: '', log_url: '' }
  const id = idOf(repository, 30_000 + 2 * index)
  return {
    id,
    repository,
    run: null,
    job: null,
    attempt: null,
    environment: 'production',
    sha: shaOf(repository, index),
    ref: 'main',
    creator,
    description: null,
    created_at: at,
    updated_at: at,
    statuses: [{ id: id + 1, state: index === 0 ? 'success' : 'inactive', ...status }],
    gates: new Map(),
  }
}

function bulkAlert(repository: Repository, index: number, at: Date): Alert {
  const types = ['code_scanning', 'dependabot', 'secret_scanning'] as const
  return {
    type: types[index % 3] as (typeof types)[number],
    number: Math.floor(index / 3) + 1,
    repository,
    state: 'open',
    created_at: at,
    updated_at: at,
    fixed_at: null,
    dismissal: null,
    details: { ...ALERT_DETAILS, sha: shaOf(repository, 0), path: `src/file-${index}.ts` },
  }
}
