import { UsageError } from '@shiplock/command-line/options'
import { deleteOrganization } from '../organizations/delete-organization.ts'
import { requireOrganization } from '../organizations/require-organization.ts'
import type { Services } from '../services.ts'
import { organizationParts } from '../start/organization-parts.ts'
import { PROGRAM } from '../start/program.ts'
import { ProgressBar } from '../start/progress-bar.ts'
import { withServices } from './administer.ts'
import { type Context, defineCommand } from './command.ts'
import { describeExport, EXPORT_CONNECTIONS, writeExport } from './org-export.ts'

export const orgDelete = defineCommand({
  name: 'org delete',
  about:
    'Deletes an organization with everything in it: rows, files, queued jobs and the audit log. It is exported first, unless --without-export is given. Repeat it with --without-export after an interruption.',
  arguments: ['slug'],
  options: {
    export: { type: 'text', value: 'FILE', about: 'write the organization to this new file (.tar.gz) first' },
    'without-export': { type: 'flag', value: '', about: 'delete it without a copy' },
    yes: { type: 'flag', value: '', about: 'confirm the deletion' },
  },
  async run(context, { slug }, { export: file, 'without-export': withoutExport, yes }) {
    if ((file === undefined) !== withoutExport)
      throw new UsageError(
        'Give either --export FILE, which writes the organization to a file first, or --without-export',
      )
    if (!yes)
      throw new UsageError(`The organization ${slug} would be deleted with everything in it. Confirm with --yes`)
    const done = await withServices(
      context,
      (services) => exportAndDelete(context, services, { slug, file }),
      EXPORT_CONNECTIONS,
    )
    const exported = file !== undefined && done.exported ? `${describeExport(file, done.exported)}\n` : ''
    const { rows, objects } = done.deleted
    context.print({
      json: { slug, ...done.deleted, export: done.exported && { file, ...done.exported } },
      text: `${exported}Deleted the organization ${slug}: ${rows} rows and ${objects} files. ${PROGRAM} org list --deleted shows it.`,
    })
  },
})

async function exportAndDelete(
  context: Context,
  services: Services,
  { slug, file }: { slug: string; file: string | undefined },
) {
  const organization = await requireOrganization(services.sql, slug)
  const exported = file === undefined ? null : await writeExport(context, services, { organization, file })
  const bar = new ProgressBar(context.say)
  const deleted = await deleteOrganization(services, organization, organizationParts, (done, total) =>
    bar.reach(done, total, 'rows'),
  )
  bar.end()
  return { exported, deleted }
}
