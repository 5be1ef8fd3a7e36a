import { UsageError } from '@shiplock/command-line/options'
import { assignPlan } from '../access/manage-access.ts'
import { OPERATOR } from '../audit/audit.store.ts'
import { assignDefaultTrust } from '../compliance/policies/default-trust.ts'
import {
  DEFAULT_TRUSTS,
  type DefaultTrust,
  listOrganizations,
  type Organization,
} from '../organizations/organization.store.ts'
import { acceptRepositoryVex, createOrganization, requireOrganization } from '../organizations/organization.ts'
import { listDeleted } from '../organizations/organization-rows.store.ts'
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
  },
  async run(context, { slug }, { 'accept-repository-vex': accepts, 'default-trust': trust }) {
    if (accepts === undefined && trust === undefined)
      throw new UsageError('Give --accept-repository-vex or --default-trust')
    if (accepts !== undefined && accepts !== 'yes' && accepts !== 'no')
      throw new UsageError('--accept-repository-vex must be yes or no')
    if (trust !== undefined && !isDefaultTrust(trust))
      throw new UsageError(`--default-trust must be ${DEFAULT_TRUSTS.join(' or ')}`)
    const organization = await withServices(context, async (services) => {
      if (accepts !== undefined) await acceptRepositoryVex(services, slug, accepts === 'yes')
      const changed = await requireOrganization(services.sql, slug)
      if (trust !== undefined) await assignDefaultTrust(services, changed.id, OPERATOR, trust)
      return changed
    })
    context.print({ json: organization, text: `Changed ${describe(organization)}` })
  },
})

function isDefaultTrust(text: string): text is DefaultTrust {
  return DEFAULT_TRUSTS.some((trust) => trust === text)
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
