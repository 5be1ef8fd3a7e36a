import { UsageError } from '@shiplock/command-line/options'
import { deleteExamplePeople } from '../access/example-person.store.ts'
import { listArtifactKeys, removeArtifactFiles } from '../ci/reports/remove-artifacts.job.ts'
import { countOrganization, deleteOrganization, type OrganizationParts } from '../organizations/delete-organization.ts'
import {
  type ExportedOrganization,
  exportOrganization,
  type ListObjects,
} from '../organizations/export-organization.ts'
import type { Organization } from '../organizations/organization.store.ts'
import { requireOrganization } from '../organizations/organization.ts'
import { listUploadKeys, removeUploadFiles } from '../security/uploads/expire-uploads.job.ts'
import type { Services } from '../services.ts'
import { PROGRAM, ProgressBar } from '../start/terminal.ts'
import { type Context, defineCommand } from './command.ts'
import { withServices } from './with-services.ts'

/** The snapshot that is exported, and the progress beside it. */
const EXPORT_CONNECTIONS = 2

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

async function writeExport(
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

function describeExport(file: string, { rows, objects }: ExportedOrganization): string {
  return `Wrote ${rows} rows and ${objects} files to ${file}.`
}

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

/** What is deleted with an organization, besides the rows of all tables. */
export const organizationParts: OrganizationParts = {
  files: [removeArtifactFiles, removeUploadFiles],
  people: deleteExamplePeople,
}

/** What is exported with an organization, besides the rows of all tables. */
export const organizationObjects: readonly ListObjects[] = [listArtifactKeys, listUploadKeys]
