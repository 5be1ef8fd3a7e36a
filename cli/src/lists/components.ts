import { listCommand } from './list-command.ts'
import { REPOSITORY_FILTERS } from './security-lists.ts'

export const componentsCommand = listCommand({
  name: 'components',
  summary: 'List the packages that bills of materials contain',
  details: ['Lists what the newest documents contain, those that were seen first most recently at the top.'],
  examples: [
    'shiplock components --package log4j-core',
    'shiplock components --purl pkg:npm/lodash --repository acme/shop',
    'shiplock components --license GPL-3.0-only --json',
  ],
  path: '/v1/components',
  scope: 'read:security',
  pageMax: 1000,
  filters: {
    ...REPOSITORY_FILTERS,
    package: {
      type: 'text',
      value: 'NAME',
      about: 'only this package, by its full name or its last part; NAME* for a prefix',
    },
    purl: { type: 'text', value: 'PURL', about: 'only the package of this package URL, with or without version' },
    ecosystem: { type: 'text', value: 'E', about: 'only this ecosystem, such as npm or Debian' },
    version: { type: 'text', value: 'V', about: 'only this version' },
    license: { type: 'text', value: 'ID', about: 'only those whose license names this SPDX id' },
    present: {
      type: 'text',
      value: 'P',
      about: 'true for what newest documents contain (the default), false for what they lack now, or any',
      choices: ['true', 'false', 'any'],
    },
  },
  columns: [
    { heading: 'ID', text: ({ id }) => id, isOptional: true },
    { heading: 'PACKAGE', text: ({ purl, name, version }) => purl ?? `${name} ${version ?? ''}`, isFlexible: true },
    { heading: 'LICENSE', text: ({ licenses }) => licenses.join(', '), isFlexible: true, isOptional: true },
    { heading: 'REPOSITORIES', text: ({ repositories }) => repositories.names.join(', '), isFlexible: true },
  ],
})
