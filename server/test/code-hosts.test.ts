import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { PROVIDERS } from '../src/codehosts/catalogue.ts'

const SRC = new URL('../src/', import.meta.url).pathname
const HOSTS = 'codehosts/hosts'

/** The topics of a host, with what may be in a second file (codehosts/kit/README.md). */
const TOPICS = [
  ...['host.ts', 'client.ts', 'credentials.ts', 'webhook.ts', 'events.ts', 'runs.ts', 'changes.ts', 'commits.ts'],
  ...['deployments.ts', 'alerts.ts', 'repositories.ts', 'actions.ts', 'README.md'],
]
const SECOND_FILES = [
  ...['jobs.ts', 'branch-rules.ts', 'reviews.ts', 'checks.ts', 'environments.ts', 'approvals.ts', 'alert-parsers.ts'],
  'webhook-setup.ts',
]

test('every host has the same files', () => {
  for (const provider of PROVIDERS) {
    const files = globSync('*.{ts,md}', { cwd: `${SRC}${HOSTS}/${provider}` }).filter(
      (name) => !name.endsWith('.test.ts'),
    )
    assert.deepEqual(files.filter((name) => !SECOND_FILES.includes(name)).sort(), [...TOPICS].sort(), provider)
  }
})

/** A name in the words of people, of code and of addresses. */
const NAME = /github|gitlab|bitbucket|azure/i
/** Columns of the database and fields of the API that are called after a host. */
const FIELDS =
  /\bgithub_run_id\b|\bgithub_alert_url\b|\bgithubRunId\b|\bazure\b(?=[?:,]| is | = )|HostAzureRun|\.azure\b/g

/** What may name a host, and why. A path that ends with a slash is a folder. */
const NAMING: Readonly<Record<string, string>> = {
  'codehosts/catalogue.ts': 'the catalogue',
  'codehosts/hosts/': 'the hosts',
  'access/oidc-trusts/': 'the issuers of tokens of CI jobs',
  'commands/trust.ts': 'trusts of these issuers',
  'commands/trust-shorthand.ts': 'trusts of these issuers',
  'ci/pipeline-runs/claimed-members.ts': 'the claims of these issuers',
  'ci/provider-runs/remove-secrets.ts': 'the forms of logs and of tokens in them',
  'ci/pipeline-runs/pipeline-run-row.store.ts': 'the field github_run_id',
  'deployments/host/host-deployment.store.ts': 'the field github_run_id',
  'security/vocabulary/': 'the names of scanners, types of packages and sources of advisories',
  'security/formats/': 'the names of scanners and paths of runners',
  'inventory/': 'types of packages and ecosystems',
  'demo/': 'the demo shows one host',
  'commands/start.ts': 'an example of an address',
  // Descriptions of the API.
  'access/members/member.schema.ts': 'descriptions',
  'ci/pipeline-runs/pipeline-run.schema.ts': 'descriptions',
  'codehosts/setup/code-host.schema.ts': 'descriptions',
  'codehosts/setup/code-host.routes.ts': 'descriptions',
  'codehosts/setup/code-host-setup.routes.ts': 'descriptions',
  'compliance/policies/policy-input.schema.ts': 'descriptions',
  'deployments/deployment.schema.ts': 'descriptions',
  'errors/codehosts.ts': 'descriptions',
  'provenance/changes/change.schema.ts': 'descriptions',
  'provenance/changes/change-record.schema.ts': 'descriptions',
}

test('no host is named outside of its folder and the catalogue', () => {
  const files = globSync('**/*.ts', { cwd: SRC }).filter((path) => !path.endsWith('.test.ts'))
  const naming = files.filter((path) => NAME.test(codeOf(path)))
  const isAllowed = (path: string) =>
    Object.keys(NAMING).some((allowed) => (allowed.endsWith('/') ? path.startsWith(allowed) : path === allowed))
  assert.deepEqual(
    naming.filter((path) => !isAllowed(path)),
    [],
  )
  const unused = Object.keys(NAMING).filter((allowed) => !naming.some((path) => path.startsWith(allowed)))
  assert.deepEqual(unused, [])
})

function codeOf(path: string): string {
  const text = readFileSync(SRC + path, 'utf8')
  return text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, '$1')
    .replaceAll(FIELDS, '')
}
