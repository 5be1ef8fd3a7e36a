import { countOrganization } from '../organizations/delete-organization.ts'
import { type ExportedOrganization, exportOrganization } from '../organizations/export-organization.ts'
import type { Organization } from '../organizations/organization.store.ts'
import { requireOrganization } from '../organizations/require-organization.ts'
import type { Services } from '../services.ts'
import { organizationObjects } from '../start/organization-parts.ts'
import { ProgressBar } from '../start/progress-bar.ts'
import { withServices } from './administer.ts'
import { type Context, defineCommand } from './command.ts'

/** The snapshot that is exported, and the progress beside it. */
export const EXPORT_CONNECTIONS = 2

export const orgExport = defineCommand({
  name: 'org export',
  about:
    'Writes an organization to a new file (.tar.gz): every row as JSON, and its objects. The file contains encrypted secrets and can be read only by you.',
  arguments: ['slug', 'file'],
  options: {},
  async run(context, { slug, file }) {
    const exported = await withServices(
      context,
      async (services) =>
        writeExport(context, services, { organization: await requireOrganization(services.sql, slug), file }),
      EXPORT_CONNECTIONS,
    )
    context.print({ json: { file, ...exported }, text: describeExport(file, exported) })
  },
})

type Asked = { organization: Organization; file: string }

export async function writeExport(
  context: Context,
  services: Services,
  { organization, file }: Asked,
): Promise<ExportedOrganization> {
  const bar = new ProgressBar(context.say)
  const total = await countOrganization(services.sql, organization.id)
  const onRow = (rows: number) => bar.reach(rows, total, 'rows')
  const exported = await exportOrganization(services, file, { organization, listObjects: organizationObjects, onRow })
  bar.end()
  return exported
}

export function describeExport(file: string, { rows, objects }: ExportedOrganization): string {
  return `Wrote ${rows} rows and ${objects} files to ${file}.`
}
