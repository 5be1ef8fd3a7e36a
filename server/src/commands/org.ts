import { changePlan } from '../access/api-keys/manage-access.ts'
import { createOrganization } from '../organizations/create-organization.ts'
import { listOrganizations, type Organization } from '../organizations/organization.store.ts'
import { administer } from './administer.ts'
import { defineCommand } from './command.ts'
import { table } from './table.ts'

export const orgCreate = defineCommand({
  name: 'org create',
  about: 'Creates an organization, which owns repositories, runs, reports and API keys.',
  arguments: ['slug'],
  options: {
    name: { type: 'text', value: 'N', about: 'the display name (default: the slug)' },
    plan: { type: 'text', value: 'P', about: 'the plan (default: enterprise)' },
  },
  async run(context, { slug }, { name, plan }) {
    const organization = await administer(context, (services) => createOrganization(services, { slug, name, plan }))
    context.print({ json: organization, text: `Created ${describe(organization)}` })
  },
})

export const orgSetPlan = defineCommand({
  name: 'org set-plan',
  about: 'Changes the plan of an organization. Running servers apply it at once.',
  arguments: ['slug', 'plan'],
  options: {},
  async run(context, { slug, plan }) {
    const organization = await administer(context, (services) => changePlan(services, slug, plan))
    context.print({ json: organization, text: `Changed ${describe(organization)}` })
  },
})

export const orgList = defineCommand({
  name: 'org list',
  about: 'Lists the organizations.',
  arguments: [],
  options: {},
  async run(context) {
    const organizations = await administer(context, ({ sql }) => listOrganizations(sql))
    const rows = organizations.map(({ slug, name, plan, id }) => [slug, name, plan, id])
    context.print({
      json: organizations,
      text: table(['SLUG', 'NAME', 'PLAN', 'ID'], rows, 'There are no organizations.'),
    })
  },
})

function describe({ slug, plan, id }: Organization): string {
  return `the organization ${slug} on the plan ${plan} (${id})`
}
