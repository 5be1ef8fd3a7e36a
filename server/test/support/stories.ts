import assert from 'node:assert/strict'
import type { HostServer } from './hosts/host-server.ts'
import type { NewJob } from './hosts/stories/jobs.ts'
import type { Stories } from './hosts/stories/stories.ts'
import type { Commit, Repository } from './hosts/types.ts'
import type { Json } from './json.ts'

export const REASON = 'Announced in the channel'

export const WORKFLOW = `name: CI
on: push
jobs:
  build:
    name: Compile it
    runs-on: ubuntu-latest
    steps: [{ run: make }]
  deploy:
    needs: build
    environment: production
    runs-on: ubuntu-latest
    steps: [{ run: make deploy }]
`

export const BUILD_AND_DEPLOY: NewJob[] = [
  { name: 'Compile it' },
  { name: 'deploy', needs: ['Compile it'], environment: 'production', environmentUrl: 'https://shop.example' },
]

/**
 * A change is pushed to a branch, reviewed and merged. The workflow file is on the tracked branch.
 */
export function mergeChange(fake: Stories, repository: Repository, branch = 'cart'): Commit {
  fake.push(repository, { files: { '.github/workflows/ci.yml': WORKFLOW } })
  fake.push(repository, { branch, message: 'Fix the cart', files: { 'src/cart.ts': 'export {}\n' } })
  const pull = fake.openPullRequest(repository, { branch, title: 'Fix the cart' })
  fake.reviewPullRequest(repository, pull, { by: 'grace', state: 'approved' })
  fake.startRun(repository, { pullRequest: pull }).finish('build')
  return fake.merge(repository, pull)
}

/** The names of the fields that are null, in order. */
export function nullFields(value: Json, path = ''): string[] {
  if (value === null) return [path]
  if (typeof value !== 'object') return []
  const names = Object.entries(value).flatMap(([name, field]) =>
    nullFields(field as Json, path === '' ? name : `${path}.${name}`),
  )
  return names.sort()
}

/** Every message fitted its host's description, and every delivery was applied or ignored. */
export async function assertNothingFailed({ hosts, sql }: HostServer): Promise<void> {
  for (const { violations } of hosts) assert.deepEqual(violations, [])
  const failed = await sql`select event, action, error from codehost_deliveries where status = 'failed'`
  assert.deepEqual([...failed], [])
  const broken = await sql`
    select name, last_error
    from jobs
    where state = 'failed'`
  assert.deepEqual([...broken], [])
}

/** GitHub's times have seconds: what follows is newer than what was. */
export async function nextSecond({ hosts, until }: HostServer): Promise<void> {
  const clocks = hosts.map(({ stories }) => stories.clock)
  const before = clocks.map((clock) => clock.now())
  await until(
    async () => clocks.every((clock, index) => clock.now() > (before[index] as Date)),
    (passed) => passed,
  )
}
