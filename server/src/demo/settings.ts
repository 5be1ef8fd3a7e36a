import { toAuthor as reasonedAuthor } from '../access/actor.ts'
import { insertLink } from '../access/links/link.store.ts'
import { createLinkToken, hashLinkToken } from '../access/links/link.ts'
import { createApiKey, revokeApiKey } from '../access/manage-access.ts'
import { toGrantor, toMemberAuthor } from '../access/members/author.ts'
import { updateMemberAccess } from '../access/members/manage-members.ts'
import { createTrust, revokeTrust } from '../access/oidc-trusts/trusts/manage-trusts.ts'
import { applyPolicy } from '../compliance/policies/apply-policy.ts'
import { parsePolicyFile } from '../compliance/policy-file/policy.parser.ts'
import { createGate, updateGate } from '../deployments/gates/configure-gate.ts'
import { listGates } from '../deployments/gates/configured-gate.store.ts'
import { DAY_MS } from '../platform/clock.ts'
import { createUuid } from '../platform/ids.ts'
import { DOMAIN, formatFullName, OWNER } from './world/company.ts'
import type { Demo, Step } from './world/demo.ts'
import { POLICIES } from './world/policies.ts'

/** What the people of the story configure: gates, policies, keys, trusts, invitations. */
export function makeSettingSteps(demo: Demo): Step[] {
  const ago = (days: number) => new Date(demo.now.getTime() - days * DAY_MS)
  return [
    ...GATES.map((gate) => ({ at: ago(89.5), tell: (told: Demo) => addGate(told, gate) })),
    ...POLICIES.map(({ daysAgo, by, source }) => ({
      at: ago(daysAgo),
      tell: (told: Demo) => addPolicy(told, by, source),
    })),
    { at: ago(58), tell: requireScans },
    {
      at: ago(71),
      tell: async (told) => void (await addTrust(told, `repo:${OWNER}/*`, 'GitHub Actions of northlane')),
    },
    { at: ago(50), tell: addRevokedTrust },
    {
      at: ago(66),
      tell: async (told) => void (await createDemoKey(told, 'laptop of Kenji', ['read:pipelines', 'read:security'])),
    },
    { at: ago(33), tell: revokeLaptopKey },
    {
      at: ago(20),
      tell: async (told) =>
        void (await createDemoKey(told, 'dashboard', ['read:pipelines', 'read:deployments', 'read:compliance'])),
    },
    { at: ago(3), tell: (told) => invite(told, `nora.berg@${DOMAIN}`, 'developer') },
    { at: ago(1), tell: (told) => invite(told, `omar.haddad@${DOMAIN}`, 'security') },
    { at: ago(9), tell: disableColleague },
  ]
}

type Gate = {
  name: string
  repository: string
  environment: string
  approvals: number
  keys: boolean
  policies: string[]
}

const ONE = { environment: 'production', approvals: 1, keys: false, policies: ['tests-passed'] }

const GATES: readonly Gate[] = [
  { ...ONE, name: 'Checkout to production', repository: 'checkout', approvals: 2 },
  { ...ONE, name: 'Storefront to production', repository: 'web-storefront' },
  { ...ONE, name: 'Payments to production', repository: 'payments', approvals: 2 },
  { ...ONE, name: 'Catalog to production', repository: 'catalog-api' },
  { ...ONE, name: 'Data pipeline', repository: 'data-pipeline', keys: true, approvals: 2 },
  {
    ...ONE,
    name: 'Data pipeline on staging',
    repository: 'data-pipeline',
    environment: 'staging',
    keys: true,
    policies: [],
  },
  { ...ONE, name: 'Billing', repository: 'legacy-billing', environment: '*', approvals: 2 },
]

async function addGate(demo: Demo, { name, repository, environment, approvals, keys, policies }: Gate) {
  await createGate(
    demo.services,
    demo.source.org_id,
    reasonedAuthor(demo.person('isolberg'), { reason: 'Set up with the platform team' }),
    {
      name,
      environment,
      repository: formatFullName(repository),
      required_approvals: approvals,
      allow_api_keys: keys,
      policies,
      branch: null,
      allow_run_creator: false,
      require_linked_accounts: false,
    },
  )
}

/** The gates of the services where money moves ask for a scan, too. */
async function requireScans({ services, source, ...demo }: Demo): Promise<void> {
  const author = reasonedAuthor(demo.person('isolberg'), { reason: 'Agreed in the security review' })
  const gates = await listGates(services.sql, source.org_id)
  for (const { id, name } of gates.filter(({ name }) => name.startsWith('Checkout') || name.startsWith('Payments')))
    await updateGate(services, { org_id: source.org_id, id }, author, { policies: ['tests-passed', 'scanned'], name })
}

async function addPolicy(demo: Demo, by: string, source: string): Promise<void> {
  const { engine, ...policy } = parsePolicyFile(source)
  if (engine.type === 'wasm') throw new Error('The example data has no policy in WebAssembly.')
  const author = reasonedAuthor(demo.person(by), { reason: null })
  await applyPolicy(demo.services, demo.source.org_id, author, {
    definition: { ...policy, engine },
    source,
    bundle: null,
    file: null,
  })
  await demo.settle()
}

async function addTrust(demo: Demo, sub: string, name: string): Promise<string> {
  const needs = { ...demo.services, connectedRepositories: async function* () {} }
  const trust = await createTrust(needs, demo.source.org_id, toGrantor(demo.person('isolberg'), {}), {
    name,
    issuer: 'https://token.actions.github.example.com',
    audience: null,
    provider: 'github',
    conditions: { repository: `${OWNER}/*`, sub: `${sub}:*` },
    scopes: ['write:ci'],
    trusted_events: [],
    self_hosted: false,
    speaks_for: [],
    as: 'uploaded' as const,
    expiresAt: null,
  })
  return trust.id
}

async function addRevokedTrust(demo: Demo): Promise<void> {
  const id = await addTrust(demo, `repo:${OWNER}/sandbox`, 'Trial of the sandbox')
  const author = reasonedAuthor(demo.person('isolberg'), { reason: 'The trial is over' })
  await revokeTrust(demo.services, { org_id: demo.source.org_id, id }, author)
}

/** The secret of the key is not kept, so nobody can use it. */
export async function createDemoKey(
  demo: Demo,
  name: string,
  scopes: readonly string[],
  grantor = toGrantor(demo.person('isolberg'), {}),
) {
  const expiresAt = null
  return demo.services.sql.begin((tx) =>
    createApiKey(
      tx,
      demo.source.org_id,
      { name, scopes, environment: 'production', expiresAt, grantor },
      demo.clock.now(),
    ),
  )
}

async function revokeLaptopKey(demo: Demo): Promise<void> {
  const { id } = await createDemoKey(demo, 'old deployment script', ['write:deployments'])
  const author = reasonedAuthor(demo.person('praman'), { reason: 'Found in a shell history' })
  await revokeApiKey(demo.services, { org_id: demo.source.org_id, id }, author)
}

/** Without a mail: the link is not given to anybody. */
async function invite(demo: Demo, email: string, role: 'developer' | 'security'): Promise<void> {
  const now = demo.clock.now()
  const { credential } = demo.person('isolberg')
  await demo.services.sql.begin((tx) =>
    insertLink(tx, {
      org_id: demo.source.org_id,
      id: createUuid(now),
      kind: 'invitation',
      email,
      built_in_role: role,
      custom_role_id: null,
      user_id: null,
      created_by_user_id: credential.id,
      created_by_name: credential.name,
      created_at: now,
      expires_at: new Date(now.getTime() + 7 * DAY_MS),
      token_sha256: hashLinkToken(createLinkToken()),
    }),
  )
}

async function disableColleague(demo: Demo): Promise<void> {
  const target = {
    orgId: demo.source.org_id,
    userId: demo.person('slindqvist').credential.id,
    author: toMemberAuthor(demo.person('isolberg')),
  }
  await updateMemberAccess(demo.services, target, false)
}
