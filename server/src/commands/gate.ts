import { UsageError } from '@shiplock/command-line/options'
import { countPeopleWith } from '../access/members/member.store.ts'
import { COMMAND_LINE, OPERATOR } from '../audit/audit.store.ts'
import { createGate, deleteGate } from '../deployments/gates/configure-gate.ts'
import { type ConfiguredGate, REQUIRED_APPROVALS_MAX } from '../deployments/gates/configured-gate.schema.ts'
import { listGates } from '../deployments/gates/configured-gate.store.ts'
import { listPendingChanges, PENDING_CHANGES_MAX } from '../deployments/gates/pending-change.store.ts'
import { confirmChange, removeChange, toOperator } from '../deployments/gates/pending-change.ts'
import { requireOrganization } from '../organizations/organization.ts'
import { type Context, defineCommand, formatTable } from './command.ts'
import { withServices } from './with-services.ts'

const ORG = { type: 'text', value: '<slug>', about: 'the organization', required: true } as const

export const gateCreate = defineCommand({
  name: 'gate create',
  about:
    'Configures a deployment gate. Deployments that it covers need its approval. In a GLOB, * does not match a slash.',
  arguments: [],
  options: {
    org: ORG,
    name: { type: 'text', value: 'N', about: 'the name of the gate', required: true },
    environment: { type: 'text', value: 'GLOB', about: 'the environments that the gate covers', required: true },
    repository: {
      type: 'text',
      value: 'GLOB',
      about: 'the repositories that the gate covers: owner/name or host/owner/name (default: all)',
    },
    branch: {
      type: 'text',
      value: 'GLOB',
      about: 'the branches that the gate covers (default: all branches and tags)',
    },
    approvals: { type: 'text', value: 'N', about: 'the number of different principals that must approve (default: 1)' },
    'allow-api-keys': {
      type: 'flag',
      value: '',
      about: 'accept answers from API keys; without it, only people can approve and reject',
    },
    'allow-run-creator': {
      type: 'flag',
      value: '',
      about: 'who opened the deployment or started its run can approve it, which the deployment then says',
    },
    'refuse-run-creator': { type: 'flag', value: '', about: 'the default; goes with the next version' },
    'require-linked-accounts': {
      type: 'flag',
      value: '',
      about: 'refuse people whose account is not linked on the code host where somebody started the run',
    },
    policy: {
      type: 'list',
      value: 'NAME',
      about: 'a policy that the gate evaluates, and that approves it together with the others; can be repeated',
    },
    'no-approve-by-policies': {
      type: 'flag',
      value: '',
      about: 'the policies of the gate only block; people or keys approve it',
    },
  },
  async run(context, _given, options) {
    const settings = {
      name: options.name,
      environment: options.environment,
      repository: options.repository ?? null,
      branch: options.branch ?? null,
      required_approvals: readApprovals(options.approvals ?? '1'),
      allow_api_keys: options['allow-api-keys'],
      allow_run_creator: readRunCreator(options),
      require_linked_accounts: options['require-linked-accounts'],
      policies: options.policy,
      ...(options['no-approve-by-policies'] && { approve_by_policies: false }),
    }
    const { gate, people } = await withServices(context, async (services) => {
      const organization = await requireOrganization(services.sql, options.org)
      const created = await createGate(services, organization.id, OPERATOR, settings)
      return { gate: created, people: await countPeopleWith(services.sql, organization.id, 'answer_deployment_gates') }
    })
    const text = `Created the gate "${gate.name}" (${gate.id})`
    context.print({ json: gate, text: people === 1 && !gate.allow_run_creator ? `${text}\n${ALONE}` : text })
  },
})

export const gateList = defineCommand({
  name: 'gate list',
  about: "Lists an organization's configured gates in the order of their evaluation.",
  arguments: [],
  options: { org: ORG },
  async run(context, _given, { org }) {
    const gates = await withServices(context, async ({ sql }) =>
      listGates(sql, (await requireOrganization(sql, org)).id),
    )
    const heading = ['ID', 'NAME', 'ENVIRONMENT', 'REPOSITORY', 'BRANCH', 'APPROVALS', 'API KEYS', 'POLICIES']
    context.print({
      json: gates,
      text: formatTable(heading, gates.map(toRow), `The organization ${org} has no gates.`),
    })
  },
})

export const gateDelete = defineCommand({
  name: 'gate delete',
  about:
    'Deletes a configured gate. Deployments that were opened before, or within 24 hours after unless it lets openers in, still need its approval.',
  arguments: ['id'],
  options: {},
  async run(context, { id }) {
    const gate = await withServices(context, (services) => deleteGate(services, { org_id: null, id }, OPERATOR))
    context.print({ json: gate, text: `Deleted the gate "${gate.name}" (${gate.id})` })
  },
})

export const gateChanges = defineCommand({
  name: 'gate changes',
  about: 'Lists the changes of gates and policies that wait for a second person.',
  arguments: [],
  options: { org: ORG },
  async run(context, _given, { org }) {
    const changes = await withServices(context, async ({ sql, clock }) => {
      const window = {
        since: new Date(0),
        until: clock.now(),
        retentionClamped: false,
        asked: [null, null] as [null, null],
      }
      const page = { ...window, limit: PENDING_CHANGES_MAX, after: null }
      return listPendingChanges(sql, (await requireOrganization(sql, org)).id, page)
    })
    const rows = changes.map(({ id, kind, action, name, proposed_by }) => [
      id,
      `${action} ${kind}`,
      name,
      proposed_by?.name ?? '-',
    ])
    const text = formatTable(['ID', 'CHANGE', 'NAME', 'PROPOSED BY'], rows, 'No change waits for a second person.')
    context.print({ json: changes, text })
  },
})

export const gateConfirm = defineCommand({
  name: 'gate confirm',
  about: 'Stores a change of a gate or policy that waits for a second person, who is the operator then.',
  arguments: ['id'],
  options: { org: ORG },
  run: (context, { id }, { org }) => settle(context, { id, org }, confirmChange, 'Confirmed'),
})

export const gateWithdraw = defineCommand({
  name: 'gate withdraw',
  about: 'Withdraws a change of a gate or policy that waits for a second person.',
  arguments: ['id'],
  options: { org: ORG },
  run: (context, { id }, { org }) => settle(context, { id, org }, removeChange, 'Withdrew'),
})

async function settle(
  context: Context,
  { id, org }: { id: string; org: string },
  act: typeof confirmChange,
  done: string,
): Promise<void> {
  const change = await withServices(context, async (services) => {
    const settler = toOperator((await requireOrganization(services.sql, org)).id, COMMAND_LINE)
    return act(services, settler, id)
  })
  context.print({ json: change, text: `${done} the change of "${change.name}" (${change.id})` })
}

const ALONE =
  'One person alone can answer it, and not what they opened themselves, for example with an API key that they created. To ' +
  'let them, create the gate with --allow-run-creator. If you delete this one for that, it is asked for 24 hours more, and ' +
  'nobody can approve what they open in this time.'

type CreatorOptions = { 'allow-run-creator': boolean; 'refuse-run-creator': boolean }

function readRunCreator({ 'allow-run-creator': allows, 'refuse-run-creator': refuses }: CreatorOptions): boolean {
  if (allows && refuses) throw new UsageError('--allow-run-creator and --refuse-run-creator exclude each other')
  return allows
}

function readApprovals(text: string): number {
  if (/^\d{1,2}$/.test(text) && Number(text) >= 1 && Number(text) <= REQUIRED_APPROVALS_MAX) return Number(text)
  throw new UsageError(`--approvals must be an integer from 1 to ${REQUIRED_APPROVALS_MAX}, not "${text}"`)
}

function toRow(gate: ConfiguredGate): string[] {
  const { id, name, environment, repository, branch, required_approvals, allow_api_keys, policies } = gate
  const keys = allow_api_keys ? 'yes' : 'no'
  return [
    id,
    name,
    environment,
    repository ?? '-',
    branch ?? '-',
    `${required_approvals}`,
    keys,
    policies.join(' ') || '-',
  ]
}
