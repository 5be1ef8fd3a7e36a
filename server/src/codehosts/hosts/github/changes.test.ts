import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { type Answer, type Received, startGithubAnswers } from '../../../../test/support/github-answers.ts'
import { hostRepository } from '../../../../test/support/host-objects.ts'
import { type HostClient, HostUnavailable } from '../../code-host.ts'
import { parseBranchRules } from './branch-rules.ts'

const repository = hostRepository()
const HEAD = 'a'.repeat(40)
const BASE = 'b'.repeat(40)
const REPO = '/repos/acme/shop'

const shaOf = (number: number) => number.toString(16).padStart(40, '0')

const commit = (number: number, fields: object = {}) => ({
  sha: shaOf(number),
  commit: {
    message: `Change ${number}`,
    author: { name: 'Ada', email: 'ada@example.com', date: '2026-02-01T00:00:00Z' },
    committer: { name: 'GitHub', email: 'noreply@github.com', date: '2026-02-01T00:00:00Z' },
    verification: { verified: true, reason: 'valid', signature: 's', payload: 'p', verified_at: null },
  },
  author: { id: 7, login: 'ada', type: 'User' },
  committer: { id: 19864447, login: 'web-flow', type: 'User' },
  ...fields,
})

const commits = (count: number) => Array.from({ length: count }, (_, index) => commit(index + 1))

/** A page of 100 items, with a link to the next one. */
function pageOf(items: unknown[], { query, path }: Received): { headers: Record<string, string>; data: unknown[] } {
  const page = Number(query.get('page') ?? 1)
  const isLast = items.length <= page * 100
  const headers = isLast ? {} : { link: `<https://x.example${path}?page=${page + 1}>; rel="next"` }
  return { headers, data: items.slice((page - 1) * 100, page * 100) }
}

async function open(t: TestContext, answer: (request: Received) => Answer | undefined) {
  const github = await startGithubAnswers(t, answer)
  return {
    client: github.codeHost.open({ id: 'a connection', installation_id: '5', host: 'github.com' }),
    received: github.received,
  }
}

test('commits have their people with accounts, and the verdict on their signature', async (t) => {
  const odd = {
    sha: shaOf(2),
    commit: { message: 'a\0b', author: null, committer: { name: 'Äda\0', email: '' } },
    author: {},
    committer: null,
  }
  const unsigned = { ...commit(3).commit, verification: { verified: false, reason: 'unsigned' } }
  const listed = [commit(1), odd, commit(3, { commit: unsigned, author: { login: 'ghost' } })]
  const { client } = await open(t, ({ path }) => (path === `${REPO}/pulls/7/commits` ? { data: listed } : undefined))
  const nobody = { name: '', email: null, id: null, login: null }
  const github = { name: 'GitHub', email: 'noreply@github.com', id: '19864447', login: 'web-flow' }
  assert.deepEqual(await client.listPullRequestCommits(repository, 7), {
    complete: true,
    commits: [
      {
        sha: shaOf(1),
        message: 'Change 1',
        author: { name: 'Ada', email: 'ada@example.com', id: '7', login: 'ada' },
        committer: github,
        signature: { verified: true, reason: 'valid' },
      },
      { sha: shaOf(2), message: 'ab', author: nobody, committer: { ...nobody, name: 'Äda' }, signature: null },
      {
        sha: shaOf(3),
        message: 'Change 3',
        author: { name: 'Ada', email: 'ada@example.com', id: null, login: 'ghost' },
        committer: github,
        signature: { verified: false, reason: 'unsigned' },
      },
    ],
  })
})

test('a list with a commit that cannot be read is incomplete', async (t) => {
  const { client } = await open(t, ({ path }) => {
    if (path === `${REPO}/pulls/7/commits`) return { data: [commit(1), { sha: 5 }] }
    return path.includes('/compare/') ? { data: { total_commits: 2, commits: [commit(1), null] } } : undefined
  })
  const listed = await client.listPullRequestCommits(repository, 7)
  const compared = await client.compareCommits(repository, BASE, HEAD)
  for (const list of [listed, compared]) assert.deepEqual([list?.commits.length, list?.complete], [1, false])
})

/** A pull request whose list of commits GitHub cuts at 250. */
async function openLargePull(t: TestContext, count: number, compared: (request: Received) => Answer | undefined) {
  return open(t, (request) => {
    const { path } = request
    if (path === `${REPO}/pulls/7/commits`) return pageOf(commits(Math.min(count, 250)), request)
    if (path === `${REPO}/pulls/7`) return { data: { commits: count, base: { sha: BASE }, head: { sha: HEAD } } }
    return path === `${REPO}/compare/${BASE}...${HEAD}` ? compared(request) : undefined
  })
}

function comparisonOf(count: number, request: Received): Answer {
  const { headers, data } = pageOf(commits(count), request)
  return { headers, data: { status: 'ahead', total_commits: count, files: [], commits: data } }
}

test('more than 250 commits of a pull request are read as a comparison', async (t) => {
  const { client } = await openLargePull(t, 420, (request) => comparisonOf(420, request))
  const list = await client.listPullRequestCommits(repository, 7)
  assert.deepEqual(
    list?.commits.map(({ sha }) => sha),
    commits(420).map(({ sha }) => sha),
  )
  assert.equal(list?.complete, true)
})

test('250 commits are complete if the pull request has no more', async (t) => {
  const { client, received } = await openLargePull(t, 250, () => undefined)
  assert.equal((await client.listPullRequestCommits(repository, 7))?.complete, true)
  assert.equal(received.filter(({ path }) => path.includes('/compare/')).length, 0)
})

test('a cut list stays incomplete if the comparison has not more', async (t) => {
  for (const compared of [() => undefined, (request: Received) => comparisonOf(3, request)]) {
    const { client } = await openLargePull(t, 300, compared)
    const list = await client.listPullRequestCommits(repository, 7)
    assert.deepEqual([list?.commits.length, list?.complete], [250, false])
  }
})

test('a comparison without links is read by its count, and one that repeats its page ends', async (t) => {
  const paged = await open(t, (request) => {
    const { data } = pageOf(commits(230), request)
    return { data: { total_commits: 230, commits: data } }
  })
  assert.deepEqual((await paged.client.compareCommits(repository, BASE, HEAD))?.commits.length, 230)
  const repeating = await open(t, () => ({ data: { total_commits: 230, commits: commits(120) } }))
  const list = await repeating.client.compareCommits(repository, BASE, HEAD)
  assert.deepEqual([list?.commits.length, list?.complete, repeating.received.length], [120, false, 3])
  const whole = await open(t, () => ({ data: { total_commits: 120, commits: commits(120) } }))
  assert.equal((await whole.client.compareCommits(repository, BASE, HEAD))?.complete, true)
})

test('a comparison whose later page is refused is incomplete', async (t) => {
  const { client } = await open(t, (request) =>
    request.query.get('page') === '2' ? { status: 404, data: {} } : comparisonOf(150, request),
  )
  const list = await client.compareCommits(repository, BASE, HEAD)
  assert.deepEqual([list?.commits.length, list?.complete], [100, false])
})

test('equal commits have no commits between them', async (t) => {
  const { client } = await open(t, () => ({ data: { status: 'identical', total_commits: 0, commits: [] } }))
  assert.deepEqual(await client.compareCommits(repository, BASE, BASE), { commits: [], complete: true })
})

test('changed files have the former path of a moved one, once each', async (t) => {
  const files = [
    { filename: 'src/ä b.ts', status: 'modified', sha: null },
    { filename: 'new.ts', status: 'renamed', previous_filename: 'old.ts' },
    { filename: 'copy.ts', status: 'copied', previous_filename: 'source.ts' },
    { filename: 'old.ts', status: 'added' },
  ]
  const { client } = await open(t, ({ path }) => (path === `${REPO}/pulls/7/files` ? { data: files } : undefined))
  assert.deepEqual(await client.listChangedFiles(repository, 7), {
    paths: ['src/ä b.ts', 'new.ts', 'old.ts', 'copy.ts'],
    complete: true,
  })
})

test('3,000 changed files may be a part of them', async (t) => {
  for (const [count, complete] of [
    [2999, true],
    [3000, false],
  ] as const) {
    const files = Array.from({ length: count }, (_, index) => ({ filename: `file-${index}`, status: 'added' }))
    const { client } = await open(t, (request) => pageOf(files, request))
    const found = await client.listChangedFiles(repository, 7)
    assert.deepEqual([found?.paths.length, found?.complete], [count, complete])
  }
})

const pullRequestRule = (approvals: number, owners: boolean) => ({
  type: 'pull_request',
  parameters: { required_approving_review_count: approvals, require_code_owner_review: owners },
  ruleset_id: 1,
})
const checkRule = (...contexts: string[]) => ({
  type: 'required_status_checks',
  parameters: { required_status_checks: contexts.map((context) => ({ context, integration_id: null })) },
})
const RULES = [
  pullRequestRule(1, true),
  pullRequestRule(2, false),
  checkRule('test', 'build'),
  checkRule('build', 'lint'),
  { type: 'required_signatures' },
  { type: 'non_fast_forward', parameters: null },
  { type: 'deletion' },
  { type: 'merge_queue', parameters: { merge_method: 'SQUASH' } },
  { type: 'a_new_rule', parameters: { required_status_checks: 'other' } },
]

test('the rules of several rulesets combine to the strictest, in any order', () => {
  fc.assert(
    fc.property(fc.shuffledSubarray(RULES, { minLength: RULES.length }), (rules) => {
      assert.deepEqual(parseBranchRules(rules), {
        requires_pull_request: true,
        required_approvals: 2,
        requires_code_owner_review: true,
        required_checks: ['build', 'lint', 'test'],
        requires_signatures: true,
        blocks_force_pushes: true,
        blocks_deletion: true,
        requires_merge_queue: true,
        complete: false,
      })
    }),
  )
})

test('each rule that is left out weakens the rules, and none strengthens them', () => {
  const all = parseBranchRules(RULES)
  fc.assert(
    fc.property(fc.subarray(RULES), (rules) => {
      const some = parseBranchRules(rules)
      for (const [name, value] of Object.entries(some)) {
        if (Array.isArray(value)) assert.ok(value.every((check) => all.required_checks.includes(check)))
        else assert.ok(value <= all[name as keyof typeof all], name)
      }
    }),
  )
})

test('the rules of a branch are read from all pages, with its name encoded', async (t) => {
  const many = [...Array.from({ length: 100 }, (_, index) => checkRule(`check ${index}`)), pullRequestRule(1, false)]
  const { client } = await open(t, (request) =>
    request.path === `${REPO}/rules/branches/release%2F1.0%20%23` ? pageOf(many, request) : undefined,
  )
  const rules = await client.readBranchRules(repository, 'release/1.0 #')
  assert.deepEqual([rules?.required_approvals, rules?.required_checks.length], [1, 100])
})

test('the rules of a branch without rulesets, or with one that cannot be read, are unknown', async (t) => {
  for (const data of [[], [checkRule('build'), { type: 'pull_request', parameters: 7 }], [{}], {}]) {
    const { client } = await open(t, ({ path }) => (path.includes('/rules/') ? { data } : undefined))
    assert.equal(await client.readBranchRules(repository, 'main'), null)
  }
})

test('pushes are read from the activities of a branch, without merged pull requests', async (t) => {
  const ada = { id: 7, login: 'ada', type: 'User' }
  const activity = (type: string, before: string, after: string, fields: object = {}) => ({
    ...{ id: 1, activity_type: type, ref: 'refs/heads/main', before, after, timestamp: '2026-02-01T10:00:00Z' },
    ...{ actor: ada, ...fields },
  })
  const none = '0'.repeat(40)
  const data = [
    activity('merge_queue_merge', BASE, HEAD, { actor: { id: 8, login: 'github-merge-queue[bot]', type: 'Bot' } }),
    activity('pr_merge', BASE, HEAD),
    activity('force_push', HEAD, BASE, { actor: null }),
    activity('branch_creation', none, BASE),
    activity('branch_deletion', BASE, none),
    { activity_type: 'push' },
  ]
  const link = '<https://x.example/activity?after=Y3Vy>; rel="next"'
  const { client, received } = await open(t, () => ({ data, headers: { link, etag: 'W/"1"' } }))
  const page = await client.listPushes(repository, 'release/1', {})
  assert.ok(page !== 'not_modified')
  assert.deepEqual(
    [page.next, page.etag, received[0]?.query.get('ref')],
    ['after=Y3Vy', 'W/"1"', 'refs/heads/release/1'],
  )
  assert.deepEqual(
    page.items.map(({ before, after, forced, by_merge_queue, pusher }) => [
      ...[before, after, forced, by_merge_queue],
      pusher?.login,
    ]),
    [
      [BASE, HEAD, false, true, 'github-merge-queue[bot]'],
      [HEAD, BASE, true, false, undefined],
      [null, BASE, false, false, 'ada'],
      [BASE, null, false, false, 'ada'],
    ],
  )
  assert.deepEqual(page.items[0]?.pushed_at, new Date('2026-02-01T10:00:00Z'))
})

const contentOf = (bytes: Buffer | string, fields: object = {}) => ({
  type: 'file',
  sha: 'b1',
  size: Buffer.byteLength(bytes),
  encoding: 'base64',
  content: Buffer.from(bytes).toString('base64'),
  ...fields,
})

const PLACES = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS']

test('the code owners are those of the first file at the commit', async (t) => {
  for (let first = 0; first < PLACES.length; first += 1) {
    const { client } = await open(t, ({ path, query }) => {
      const place = PLACES.findIndex((name) => path === `${REPO}/contents/${name}`)
      assert.ok(place === -1 || query.get('ref') === HEAD)
      return place >= first ? { data: contentOf(`* @team-${place}\n`) } : undefined
    })
    const found = await client.readCodeOwners(repository, HEAD)
    assert.deepEqual(found, { path: PLACES[first], text: `* @team-${first}\n` })
  }
})

test('an empty file names nobody; folders and links to other repositories are no files', async (t) => {
  const answers: Record<string, unknown> = {
    '.github/CODEOWNERS': [contentOf('', { path: '.github/CODEOWNERS/a' })],
    CODEOWNERS: { type: 'submodule', sha: 's', size: 0 },
    'docs/CODEOWNERS': contentOf(''),
  }
  const { client } = await open(t, ({ path }) => {
    const data = answers[path.slice(`${REPO}/contents/`.length)]
    return data === undefined ? undefined : { data }
  })
  assert.deepEqual(await client.readCodeOwners(repository, HEAD), { path: 'docs/CODEOWNERS', text: '' })
})

test('bytes that are no UTF-8 do not make a file unreadable', async (t) => {
  const bytes = Buffer.concat([Buffer.from('* @ada # caf'), Buffer.from([0xe9, 0x00]), Buffer.from('\n')])
  const { client } = await open(t, ({ path }) =>
    path.endsWith('/contents/CODEOWNERS') ? { data: contentOf(bytes) } : undefined,
  )
  assert.equal((await client.readCodeOwners(repository, HEAD))?.text, '* @ada # caf\ufffd\n')
})

test('a file over 1 MB is read as a blob, and one over 3 MiB is not used', async (t) => {
  const text = '# comment\n'.repeat(200_000)
  const { client, received } = await open(t, ({ path, query }) => {
    const size = query.get('ref') === HEAD ? text.length : 3 * 1024 * 1024 + 1
    if (path.endsWith('/contents/CODEOWNERS')) return { data: contentOf('', { size, encoding: 'none', content: '' }) }
    if (path.endsWith('/contents/docs/CODEOWNERS')) return { data: contentOf('* @docs\n') }
    return path.endsWith('/git/blobs/b1') ? { data: contentOf(text) } : undefined
  })
  assert.deepEqual(await client.readCodeOwners(repository, HEAD), { path: 'CODEOWNERS', text })
  const before = received.length
  assert.equal(await client.readCodeOwners(repository, BASE), null)
  assert.deepEqual(
    received.slice(before).map(({ path }) => path.split('/contents/')[1]),
    ['.github/CODEOWNERS', 'CODEOWNERS'],
  )
  const unsized = await open(t, ({ path }) =>
    path.endsWith('/contents/CODEOWNERS')
      ? { data: contentOf('x'.repeat(3 * 1024 * 1024 + 1), { size: null }) }
      : undefined,
  )
  assert.equal(await unsized.client.readCodeOwners(repository, HEAD), null)
})

const READS: [name: string, read: (client: HostClient) => Promise<unknown>][] = [
  ['listPullRequestCommits', (client) => client.listPullRequestCommits(repository, 7)],
  ['compareCommits', (client) => client.compareCommits(repository, BASE, HEAD)],
  ['listChangedFiles', (client) => client.listChangedFiles(repository, 7)],
  ['readBranchRules', (client) => client.readBranchRules(repository, 'main')],
  ['readCodeOwners', (client) => client.readCodeOwners(repository, HEAD)],
]

for (const [name, read] of READS) {
  test(`${name} answers null for what is missing or denied, and fails while GitHub is down`, async (t) => {
    for (const status of [403, 404, 410, 422, 451, 501]) {
      const { client } = await open(t, ({ path }) =>
        path.startsWith(REPO) ? { status, data: { message: 'No' } } : undefined,
      )
      assert.equal(await read(client), null, String(status))
    }
    for (const status of [401, 429, 500, 502, 503]) {
      const { client } = await open(t, ({ path }) =>
        path.startsWith(REPO) ? { status, data: { message: 'No' } } : undefined,
      )
      await assert.rejects(read(client), HostUnavailable, String(status))
    }
  })
}
