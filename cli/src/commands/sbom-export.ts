import { defineCommand } from '@shiplock/command-line/command'
import { UsageError } from '@shiplock/command-line/options'
import { connect, namingScope, SERVER_OPTIONS } from '../connection/client.ts'
import { EXIT } from '../program/exit-codes.ts'

const FORMATS = ['cyclonedx', 'spdx'] as const

export const sbomExportCommand = defineCommand({
  name: 'sbom export',
  summary: 'Export what the bills of materials about a repository contain',
  details: [
    'Prints one document for the newest documents about the tracked branch of the repository: CycloneDX 1.6 or SPDX 2.3. As long as the contents are the same, so is the document.',
  ],
  options: {
    repository: { type: 'text', value: 'R', about: 'the repository, as owner/name' },
    provider: { type: 'text', value: 'P', about: 'the code host of the repository' },
    category: { type: 'text', value: 'C', about: 'only what documents of this category contain' },
    format: { type: 'text', value: 'F', about: 'the format (by default cyclonedx)', choices: FORMATS },
    vulnerabilities: { type: 'flag', value: '', about: 'name the open and dismissed findings' },
    ...SERVER_OPTIONS,
  },
  examples: [
    'shiplock sbom export --repository acme/shop > shop.cdx.json',
    'shiplock sbom export --repository acme/shop --format spdx --vulnerabilities',
  ],
  async run({ options }, context) {
    const { repository, provider, category, format, vulnerabilities } = options
    if (repository === undefined) throw new UsageError('Give the repository with --repository')
    const client = connect(options, context)
    const query = {
      repository,
      vulnerabilities,
      ...(provider !== undefined && { provider: provider as 'github' }),
      ...(category !== undefined && { category }),
      ...(format !== undefined && { format: format as (typeof FORMATS)[number] }),
    }
    const { data } = await namingScope('read:security', () =>
      client.api.GET('/v1/security/sbom', { params: { query } }),
    )
    context.output.print({ json: data, text: JSON.stringify(data, null, 2) })
    return EXIT.ok
  },
})
