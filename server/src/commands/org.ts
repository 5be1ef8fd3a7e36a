import { requireChoice, UsageError } from '@shiplock/command-line/options'
import { assignPlan } from '../access/manage-access.ts'
import { OPERATOR } from '../audit/audit.store.ts'
import { assignDefaultTrust } from '../compliance/policies/default-trust.ts'
import {
  DEFAULT_TRUSTS,
  HOST_DISMISSALS,
  INVENTORY_MATCHING,
  listOrganizations,
  type Organization,
} from '../organizations/organization.store.ts'
import { createOrganization, requireOrganization, updateOrganizationRules } from '../organizations/organization.ts'
import { listDeleted } from '../organizations/organization-rows.store.ts'
import { assignInventoryMatching } from '../security/matches/match-components.job.ts'
import { type Context, defineCommand, formatTable } from './command.ts'
import { withServices } from './with-services.ts'

export const orgCreate = defineCommand({
  name: 'org create',
  about: 'Creates an organization, which owns repositories, runs, reports and API keys.',
  arguments: ['slug'],
  options: {
    name: { type: 'text', value: 'N', about: 'the display name (default: the slug)' },
    plan: { type: 'text', value: 'P', about: 'the plan (default: enterprise)' },
  },
  async run(context, { slug }, { name, plan }) {
    const organization = await withServices(context, (services) => createOrganization(services, { slug, name, plan }))
    context.print({ json: organization, text: `Created ${describe(organization)}` })
  },
})

export const orgSetPlan = defineCommand({
  name: 'org set-plan',
  about: 'Changes the plan of an organization. Running servers apply it at once.',
  arguments: ['slug', 'plan'],
  options: {},
  async run(context, { slug, plan }) {
    const organization = await withServices(context, (services) => assignPlan(services, slug, plan))
    context.print({ json: organization, text: `Changed ${describe(organization)}` })
  },
})

export const orgSet = defineCommand({
  name: 'org set',
  about: 'Changes what an organization lets count.',
  arguments: ['slug'],
  options: {
    'accept-repository-vex': {
      type: 'text',
      value: 'yes|no',
      about: 'whether VEX documents of verified CI jobs take effect without being confirmed',
    },
    'default-trust': {
      type: 'text',
      value: DEFAULT_TRUSTS.join('|'),
      about: 'whose evidence rules admit that name no trust: jobs with OIDC tokens, or also uploads of API keys',
    },
    'inventory-matching': {
      type: 'text',
      value: INVENTORY_MATCHING.join('|'),
      about: 'whether components are matched with advisories; preview shows findings, which count nowhere',
    },
    'host-dismissals': {
      type: 'text',
      value: HOST_DISMISSALS.join('|'),
      about: 'whether dismissals at code hosts count, or are proposals until somebody dismisses the alert in Shiplock',
    },
    'two-person-changes': {
      type: 'text',
      value: 'yes|no',
      about: 'whether changes of gates and policies in the console wait for a second person',
    },
  },
  async run(context, { slug }, options) {
    const {
      'accept-repository-vex': accepts,
      'default-trust': trust,
      'two-person-changes': byTwo,
      'inventory-matching': matching,
      'host-dismissals': dismissals,
    } = options
    const areRulesStated = [accepts, byTwo, dismissals].some((stated) => stated !== undefined)
    if (Object.values(options).every((value) => value === undefined))
      throw new UsageError(
        'org set needs --accept-repository-vex, --default-trust, --host-dismissals, --inventory-matching or --two-person-changes',
      )
    const chosen = trust === undefined ? null : requireChoice('default-trust', trust, DEFAULT_TRUSTS)
    const asked = matching === undefined ? null : requireChoice('inventory-matching', matching, INVENTORY_MATCHING)
    const rules = {
      ...(accepts !== undefined && { accept_repository_vex: isYes('accept-repository-vex', accepts) }),
      ...(byTwo !== undefined && { two_person_changes: isYes('two-person-changes', byTwo) }),
      ...(dismissals !== undefined && {
        host_dismissals: requireChoice('host-dismissals', dismissals, HOST_DISMISSALS),
      }),
    }
    const organization = await withServices(context, async (services) => {
      const changed = areRulesStated
        ? await updateOrganizationRules(services, slug, rules)
        : await requireOrganization(services.sql, slug)
      if (chosen !== null) await assignDefaultTrust(services, changed.id, OPERATOR, chosen)
      if (asked !== null) await assignInventoryMatching(services, changed.id, OPERATOR, asked)
      return changed
    })
    context.print({ json: organization, text: `Changed ${describe(organization)}` })
  },
})

function isYes(option: string, text: string): boolean {
  return requireChoice(option, text, ['yes', 'no'] as const) === 'yes'
}

export const orgList = defineCommand({
  name: 'org list',
  about: 'Lists the organizations.',
  arguments: [],
  options: {
    deleted: { type: 'flag', value: '', about: 'list the deleted organizations instead, the last one first' },
  },
  async run(context, _given, { deleted }) {
    if (deleted) return showDeleted(context)
    const organizations = await withServices(context, ({ sql }) => listOrganizations(sql))
    const rows = organizations.map(({ slug, name, plan, id }) => [slug, name, plan, id])
    context.print({
      json: organizations,
      text: formatTable(['SLUG', 'NAME', 'PLAN', 'ID'], rows, 'There are no organizations.'),
    })
  },
})

async function showDeleted(context: Context): Promise<void> {
  const organizations = await withServices(context, ({ sql }) => listDeleted(sql))
  const rows = organizations.map(({ slug, name, id, deleted_at, deleted_rows }) => {
    return [slug, name, id, deleted_at.toJSON(), String(deleted_rows)]
  })
  context.print({
    json: organizations,
    text: formatTable(['SLUG', 'NAME', 'ID', 'DELETED', 'ROWS'], rows, 'No organization was deleted.'),
  })
}

function describe({ slug, plan, id }: Organization): string {
  return `the organization ${slug} on the plan ${plan} (${id})`
}
