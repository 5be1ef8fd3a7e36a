import { createHash } from 'node:crypto'
import { ALERT_DETAILS } from '../hosts/stories/alerts.ts'
import { environmentOf } from '../hosts/stories/deployments.ts'
import { emptyRepository } from '../hosts/stories/repositories.ts'
import type {
  Account,
  Alert,
  ApiDeployment,
  Attempt,
  Commit,
  Environment,
  Ids,
  Job,
  Repository,
  Run,
} from '../hosts/types.ts'
import type { World } from '../hosts/world.ts'
import type { BulkSizes, Installation } from './types.ts'

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
  readonly #world: World
  readonly #now: Date
  #last: Repository | null = null

  constructor(world: World, installation: Installation, sizes: BulkSizes) {
    this.#world = world
    this.installation = installation
    this.sizes = sizes
    this.#now = world.now()
  }

  repository(id: number): Repository | undefined {
    if (!(id >= 1 && id <= this.sizes.repositories)) return undefined
    if (this.#last?.id !== id) this.#last = this.#compute(id)
    return this.#last as Repository
  }

  /** The contents are computed when they are first read: a list of repositories needs none. */
  #compute(id: number): Repository {
    const owner = this.installation.account
    const repository = { ...emptyRepository(this.#world, `${owner.login}/repository-${id}`), id }
    const at = (index: number) => new Date(this.#now.getTime() - (index + 1) * HOUR_MS)
    const { runsPerRepository, deploymentsPerRepository = 0, alertsPerRepository = 0 } = this.sizes
    const actor = this.#world.account('ada')
    const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)
    lazily(repository, 'runs', () =>
      numbers(runsPerRepository).map((index) => bulkRun(repository, index, at(index), actor)),
    )
    lazily(repository, 'commits', () => new Map(repository.runs.map((run) => [run.sha, bulkCommit(run)])))
    lazily(repository, 'refs', () => new Map([['refs/heads/main', shaOf(repository, 0)]]))
    environmentOf(this.#world, repository, 'production').id = numberOf(repository, 99_998)
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

function numberOf(repository: Repository, index: number): number {
  return 10_000_000 + repository.id * IDS_PER_REPOSITORY + index
}

/** GitHub shows no UUIDs. */
function idOf(repository: Repository, index: number): Ids {
  return { id: numberOf(repository, index), uuid: '' }
}

function shaOf(repository: Repository, index: number): string {
  return createHash('sha1').update(`${repository.id} ${index}`).digest('hex')
}

function bulkRun(repository: Repository, index: number, at: Date, actor: Account): Run {
  const path = '.github/workflows/ci.yml'
  const workflow = { ...idOf(repository, 99_999), name: 'CI', path, created_at: repository.created_at, runs: 0 }
  const completed_at = new Date(at.getTime() + 300_000)
  const job: Job = {
    ...idOf(repository, 50_000 + index),
    name: 'build',
    attempt: 1,
    needs: [],
    stage: 0,
    environment: null,
    environment_url: null,
    deployment: null,
    status: 'completed',
    conclusion: index % 7 === 0 ? 'failure' : 'success',
    steps: [{ name: 'Run build', conclusion: index % 7 === 0 ? 'failure' : 'success' }],
    created_at: at,
    begun_at: at,
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
    completed_at,
    jobs: [job],
  }
  return {
    ...idOf(repository, index),
    repository,
    workflow,
    number: 100_000 - index,
    index: 100_000 - index,
    event: 'push',
    branch: 'main',
    sha: shaOf(repository, index),
    title: `Change ${index}`,
    actor,
    pullRequest: null,
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

function bulkDeployment(repository: Repository, index: number, at: Date, creator: Account): ApiDeployment {
  const state = index === 0 ? 'success' : 'inactive'
  return {
    ...idOf(repository, 30_000 + 2 * index),
    number: index,
    repository,
    run: null,
    job: null,
    attempt: null,
    environment: [...repository.environments.values()][0] as Environment,
    sha: shaOf(repository, index),
    ref: 'main',
    creator,
    created_at: at,
    updated_at: at,
    statuses: [{ ...idOf(repository, 30_001 + 2 * index), state, creator, created_at: at }],
    gates: new Map(),
  }
}

function bulkAlert(repository: Repository, index: number, at: Date): Alert {
  const types = ['code_scanning', 'dependabot', 'secret_scanning'] as const
  return {
    ...idOf(repository, 90_000 + index),
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
