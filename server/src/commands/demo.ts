import { type MadeDemo, makeDemo } from '../demo/make-demo.ts'
import { hostParts } from '../host-event-handlers.ts'
import { jobs } from '../jobs.ts'
import { deleteOrganization } from '../organizations/delete-organization.ts'
import { findDemoOrganization } from '../organizations/organization.store.ts'
import { toBrowserAddress } from '../platform/loopback.ts'
import type { Services } from '../services.ts'
import { PROGRAM, ProgressBar } from '../start/terminal.ts'
import { type Context, defineCommand } from './command.ts'
import { organizationParts } from './org-content.ts'
import { withServices } from './with-services.ts'

/** The transaction of the example data, and the live updates beside it. */
const CONNECTIONS = 3

export const demo = defineCommand({
  name: 'demo',
  about:
    'Makes an organization with example data: three months of a fictional platform team. All Org admins of this server can open it.',
  arguments: [],
  options: {
    remove: { type: 'flag', value: '', about: 'delete the organization with everything in it' },
  },
  async run(context, _given, { remove }) {
    await (remove ? removeExample(context) : makeExample(context))
  },
})

async function makeExample(context: Context): Promise<void> {
  const bar = new ProgressBar(context.say)
  const made = await withServices(
    context,
    async (services) => ({
      ...(await makeDemo(services, { jobs, parts: hostParts }, (done, total) => bar.reach(done, total, 'steps'))),
      url: `${toBrowserAddress(services.config.baseUrl)}/orgs/demo`,
    }),
    CONNECTIONS,
  )
  bar.end()
  context.print({ json: made, text: describeMade(made) })
}

function describeMade({ created, name, slug, counts, url }: MadeDemo & { url: string }): string {
  const state = created ? `Made the organization ${name}:` : `The organization ${name} exists already:`
  const lines = Object.entries(counts).map(
    ([what, count]) => `  ${formatCount(count).padStart(7)}  ${what.replaceAll('_', ' ')}`,
  )
  return [
    state,
    ...lines,
    '',
    `Open ${url} as an Org admin of this server (${slug}).`,
    `Remove it with: ${PROGRAM} demo --remove`,
  ].join('\n')
}

async function removeExample(context: Context): Promise<void> {
  const bar = new ProgressBar(context.say)
  const removed = await withServices(context, async (services: Services) => {
    const organization = await findDemoOrganization(services.sql)
    if (organization === null) return null
    return deleteOrganization(services, organization, organizationParts, (done, total) =>
      bar.reach(done, total, 'rows'),
    )
  })
  bar.end()
  const json = { removed: removed !== null, ...(removed ?? { rows: 0, objects: 0, tables: {} }) }
  const text = removed
    ? `Removed the example data: ${formatCount(json.rows)} rows and ${formatCount(json.objects)} files.`
    : 'There is no example data.'
  context.print({ json, text })
}

const formatCount = new Intl.NumberFormat('en').format
