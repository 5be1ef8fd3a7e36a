import assert from 'node:assert/strict'
import { test } from 'node:test'
import { azureClaims, bitbucketClaims, githubClaims, gitlabClaims } from '../../../test/support/oidc-claims.ts'
import type { Claims } from './claims.ts'
import { readTokenJob } from './read-token-job.ts'
import type { TokenJob, TrustProvider, TrustTerms } from './token-job.ts'

const GITHUB = 'https://token.actions.githubusercontent.com'

const TERMS = { trusted_events: [], self_hosted: false }

function read(
  provider: TrustProvider,
  claims: Claims,
  issuer = 'http://127.0.0.1:1',
  terms: TrustTerms = TERMS,
): TokenJob {
  return readTokenJob({ provider, issuer, ...terms }, claims) ?? assert.fail('The claims describe no job')
}

test('a GitHub job', () => {
  const { claims, ...job } = read('github', githubClaims(), GITHUB)
  assert.deepEqual(job, {
    provider: 'github',
    run: {
      ci_system: 'github-actions',
      ci_instance: 'github.com',
      external_run_id: '11223344556',
      host_run_id: '11223344556',
      attempt: 1,
    },
    repository: { id: '7770001', owner_id: '5550001', host: 'github.com', address: 'github.com/acme/shop' },
    instance: null,
    commit_sha: '9f2a1c3b4d5e6f708192a3b4c5d6e7f801234567',
    ref: 'refs/heads/main',
    pipeline_name: 'build',
    run_number: 42,
    event: 'push',
    actor: 'alice',
    environment: null,
    url: 'https://github.com/acme/shop/actions/runs/11223344556/attempts/1',
    foreign_code: 'none',
  })
  assert.equal(claims.workflow_ref, 'acme/shop/.github/workflows/build.yml@refs/heads/main')
  assert.ok(!('jti' in claims) && !('head_ref' in claims))
})

test('a GitLab job', () => {
  const { claims, ...job } = read('gitlab', gitlabClaims())
  assert.deepEqual(job, {
    provider: 'gitlab',
    run: {
      ci_system: 'gitlab-ci',
      ci_instance: null,
      external_run_id: '1519139981',
      host_run_id: '1519139981',
      attempt: null,
    },
    repository: { id: '46573356', owner_id: '68413579', host: null, address: 'gitlab.com/acme/shop' },
    instance: '8222997048',
    commit_sha: '8fe1b322a576d59fe6257052a4107df7dc1b8c78',
    ref: 'refs/heads/main',
    pipeline_name: null,
    run_number: null,
    event: 'push',
    actor: 'alice',
    environment: null,
    url: 'https://gitlab.com/acme/shop/-/pipelines/1519139981',
    foreign_code: 'none',
  })
  assert.equal(claims.job_id, '8222997048')
})

test('a Bitbucket step', () => {
  const { claims, ...job } = read('bitbucket', bitbucketClaims())
  assert.deepEqual(job, {
    provider: 'bitbucket',
    run: {
      ci_system: 'bitbucket-pipelines',
      ci_instance: '8864cd24-449d-4441-8862-cf4fe8ad6caa',
      external_run_id: '805b0ca6-1086-4d23-b526-de1d38cf3bf1',
      host_run_id: '805b0ca6-1086-4d23-b526-de1d38cf3bf1',
      attempt: null,
    },
    repository: {
      id: '8864cd24-449d-4441-8862-cf4fe8ad6caa',
      owner_id: 'e2b9cba7-4ecf-452c-bb1c-87add4084c99',
      host: null,
      address: null,
    },
    instance: 'd5ff2daf-063f-4c13-82fc-cb51af94c2cb',
    commit_sha: null,
    ref: 'refs/heads/main',
    pipeline_name: null,
    run_number: null,
    event: 'other',
    actor: null,
    environment: null,
    url: null,
    foreign_code: 'none',
  })
  assert.equal(claims.stepUuid, '{d5ff2daf-063f-4c13-82fc-cb51af94c2cb}')
})

test('an Azure Pipelines job', () => {
  const { claims, ...job } = read('azure', azureClaims())
  assert.deepEqual(job, {
    provider: 'azure',
    run: {
      ci_system: 'azure-pipelines',
      ci_instance: null,
      external_run_id: '5021',
      host_run_id: '271ef6f7-5998-4b0f-86fb-4b54d9129990_5021',
      attempt: null,
    },
    repository: {
      id: '6f9c0ee2-3c35-4d7a-8f54-0a2f51d8c8b1',
      owner_id: '0ca3ddd9-f0b0-4635-a98c-5866526961b6',
      host: null,
      address: 'dev.azure.com/acme/web/shop',
    },
    instance: null,
    commit_sha: 'c291ea713801eb300054d353d279e7b02331f671',
    ref: 'refs/heads/main',
    pipeline_name: 'shop-build',
    run_number: null,
    event: 'other',
    actor: null,
    environment: null,
    url: 'https://dev.azure.com/acme/web/_build/results?buildId=5021',
    foreign_code: 'none',
  })
  assert.equal(claims.def_id, '1')
})

const FOREIGN: [TrustProvider, Claims, TokenJob['foreign_code']][] = [
  ['github', { event_name: 'pull_request_target' }, 'possible'],
  ['github', { event_name: 'workflow_run' }, 'possible'],
  ['github', { event_name: 'pull_request' }, 'pull_request'],
  ['github', { event_name: 'pull_request_review' }, 'possible'],
  ['github', { event_name: 'issue_comment' }, 'possible'],
  ['github', { event_name: undefined }, 'possible'],
  ['github', { event_name: 'push', ref: 'refs/pull/7/merge' }, 'possible'],
  ['github', { event_name: 'deployment', ref: '' }, 'possible'],
  ['github', { event_name: 'release', ref: 'refs/tags/v1' }, 'none'],
  ['github', { runner_environment: 'self-hosted', repository_visibility: 'public' }, 'possible'],
  ['github', { runner_environment: 'self-hosted', repository_visibility: undefined }, 'none'],
  ['github', { event_name: 'workflow_dispatch' }, 'none'],
  ['gitlab', { job_project_id: '999' }, 'possible'],
  ['gitlab', { job_project_id: 999 }, 'possible'],
  ['gitlab', { job_project_id: 46573356, pipeline_source: 'merge_request_event' }, 'none'],
  ['gitlab', { job_project_id: undefined, pipeline_source: 'merge_request_event' }, 'possible'],
  ['gitlab', { job_project_id: null, pipeline_source: 'merge_request_event' }, 'possible'],
  ['gitlab', { job_project_id: undefined }, 'none'],
  ['gitlab', { pipeline_source: 'external_pull_request_event' }, 'possible'],
  ['gitlab', { ref_path: 'refs/merge-requests/7/head' }, 'none'],
  ['gitlab', { ref_path: 'refs/merge-requests/7/head', job_project_id: undefined }, 'possible'],
  ['gitlab', { ref_path: 'refs/keep-around/7' }, 'possible'],
  ['gitlab', { ref_path: undefined }, 'none'],
  ['azure', { rpo_ref: 'refs/pull/7/merge' }, 'pull_request'],
]
const DEFAULTS = { github: githubClaims, gitlab: gitlabClaims, bitbucket: bitbucketClaims, azure: azureClaims }

for (const [provider, claims, expected] of FOREIGN) {
  test(`code of strangers in a ${provider} job with ${JSON.stringify(claims)}: ${expected}`, () => {
    assert.equal(read(provider, { ...DEFAULTS[provider](), ...claims }).foreign_code, expected)
  })
}

const EVENTS: [TrustProvider, Claims, TokenJob['event']][] = [
  ['github', { event_name: 'push', ref_type: 'tag' }, 'tag'],
  ['github', { event_name: 'pull_request' }, 'pull_request'],
  ['github', { event_name: 'schedule' }, 'schedule'],
  ['github', { event_name: 'workflow_dispatch' }, 'manual'],
  ['github', { event_name: 'toString' }, 'other'],
  ['gitlab', { ref_type: 'tag', ref: 'v1' }, 'tag'],
  ['gitlab', { pipeline_source: 'merge_request_event' }, 'pull_request'],
  ['gitlab', { pipeline_source: 'web' }, 'manual'],
  ['azure', { rpo_ref: 'refs/tags/v1' }, 'tag'],
]

for (const [provider, claims, expected] of EVENTS) {
  test(`the event of a ${provider} job with ${JSON.stringify(claims)}: ${expected}`, () => {
    assert.equal(read(provider, { ...DEFAULTS[provider](), ...claims }).event, expected)
  })
}

test('ids and numbers may be numbers or texts', () => {
  const claims = { run_id: 11223344556, repository_id: 7770001, run_attempt: 3, run_number: 42, repository_owner_id: 5 }
  const job = read('github', { ...githubClaims(), ...claims })
  assert.deepEqual(job.run, {
    ci_system: 'github-actions',
    ci_instance: null,
    external_run_id: '11223344556',
    host_run_id: '11223344556',
    attempt: 3,
  })
  assert.deepEqual([job.repository.id, job.repository.owner_id, job.run_number], ['7770001', '5', 42])
  assert.equal(job.claims.run_id, '11223344556')
  assert.equal(read('gitlab', { ...gitlabClaims(), pipeline_id: 7, project_id: 8 }).run.external_run_id, '7')
})

test('the host comes from the issuer', () => {
  const hosts: [TrustProvider, string, string][] = [
    ['github', 'https://github.example.com/_services/token', 'github.example.com/acme/shop'],
    ['github', 'https://token.actions.githubusercontent.com/acme-inc', 'github.com/acme/shop'],
    ['github', 'https://token.actions.acme.ghe.com', 'acme.ghe.com/acme/shop'],
    ['gitlab', 'https://git.example.com', 'git.example.com/acme/shop'],
    ['gitlab', 'https://git.example.com:8443/gitlab', 'git.example.com:8443/acme/shop'],
  ]
  for (const [provider, issuer, address] of hosts) {
    const { repository } = read(provider, DEFAULTS[provider](), issuer)
    assert.deepEqual([repository.address, repository.host], [address, address.split('/')[0]])
  }
  for (const provider of ['github', 'gitlab'] as const)
    assert.equal(read(provider, DEFAULTS[provider]()).repository.host, null)
})

test('a tag is a full ref on every provider', () => {
  assert.equal(read('gitlab', { ...gitlabClaims(), ref: 'v1', ref_type: 'tag' }).ref, 'refs/tags/v1')
  assert.equal(read('github', { ...githubClaims(), ref: 'refs/tags/v1' }).ref, 'refs/tags/v1')
})

test('the address of a repository of another host that Azure Pipelines builds', () => {
  const claims = { rpo_id: 'acme/shop', rpo_uri: 'https://github.com/acme/shop.git' }
  const { repository } = read('azure', { ...azureClaims(), ...claims })
  assert.deepEqual([repository.id, repository.address], ['acme/shop', 'github.com/acme/shop'])
  const withUser = { rpo_uri: 'https://acme@dev.azure.com/acme/my%20web/_git/shop' }
  assert.equal(read('azure', { ...azureClaims(), ...withUser }).repository.address, 'dev.azure.com/acme/my web/shop')
})

test('claims that do not fit the fields of a run are absent; without ids there is no job', () => {
  const odd = { sha: 'main', ref: 'x'.repeat(300), workflow: 'w'.repeat(500), run_attempt: 0, actor: '\u0000', url: 7 }
  const job = read('github', { ...githubClaims(), ...odd })
  assert.deepEqual([job.commit_sha, job.ref, job.run.attempt, job.actor], [null, null, null, null])
  assert.equal(job.pipeline_name?.length, 200)
  for (const missing of [{ run_id: undefined }, { repository_id: 'x' }, { run_id: ['1'] }, { run_id: 'a b' }])
    assert.equal(
      readTokenJob({ provider: 'github', issuer: GITHUB, ...TERMS }, { ...githubClaims(), ...missing }),
      null,
    )
  for (const provider of ['gitlab', 'bitbucket', 'azure'] as const)
    assert.equal(readTokenJob({ provider, issuer: GITHUB, ...TERMS }, {}), null)
  assert.equal(readTokenJob({ provider: null, issuer: GITHUB, ...TERMS }, githubClaims()), null)
})

test('the CI server follows from the issuer; on this machine the job names it', () => {
  const servers: [TrustProvider, string, string][] = [
    ['github', 'https://token.actions.githubusercontent.com', 'github.com'],
    ['github', 'https://ghes.example.com:8443/_services/token', 'ghes.example.com:8443'],
    ['gitlab', 'https://git.example.com', 'git.example.com'],
    [
      'azure',
      'https://vstoken.dev.azure.com/0CA3DDD9-f0b0-4635-a98c-5866526961b6',
      '0ca3ddd9-f0b0-4635-a98c-5866526961b6',
    ],
  ]
  for (const [provider, issuer, expected] of servers)
    assert.equal(read(provider, DEFAULTS[provider](), issuer).run.ci_instance, expected)
  for (const provider of ['github', 'gitlab', 'azure'] as const)
    assert.equal(read(provider, DEFAULTS[provider](), 'http://127.0.0.1:8080').run.ci_instance, null)
})

test('the execution of a job follows from its claims', () => {
  assert.equal(read('github', { ...githubClaims(), check_run_id: 101 }).instance, '101')
  assert.equal(read('gitlab', { ...gitlabClaims(), job_id: '7' }).instance, '7')
})
