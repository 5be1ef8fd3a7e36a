import { Type } from 'typebox'
import { PROVIDERS } from '../../codehosts/catalogue.ts'
import { definePageQuery, windowFilters } from '../../platform/http/lists.ts'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { UUID_PATTERN } from '../../platform/ids.ts'
import { IDENTITIES } from './component-identity.ts'

const text = (description: string) => Nullable(Type.String({ description }))
const filter = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 300, pattern: '^[^\\u0000]+$', description }))
const time = (description: string) => Type.String({ ...Timestamp, description })
const licenses = Type.Array(Type.String(), { description: 'The licenses: SPDX expressions, or names.' })

export const componentFilters = {
  purl: filter('Return only components with this package URL, of any version if it has none.'),
  package: filter(
    'Return only packages with this name: the full name of the ecosystem, such as `org.apache.logging.log4j:log4j-core` ' +
      'or `@angular/core`, or its last part. `*` at the end stands for any text, and `%2A` for a star.',
  ),
  ecosystem: filter('Return only components of this ecosystem: its name of OSV, such as `PyPI`, or a purl type.'),
  version: filter('Return only components of exactly this version.'),
  license: filter('Return only components whose license names this SPDX id.'),
  direct: Type.Optional(
    Type.Boolean({ description: 'Return only components that a document states to be direct dependencies, or not.' }),
  ),
  present: Type.Optional(
    OneOf(['true', 'false', 'any'], {
      default: 'true',
      description: 'Whether the newest documents contain the component: `true`, `false` or `any`.',
    }),
  ),
}

export const OccurrenceQuery = definePageQuery(1000, 100, windowFilters)

export const ComponentPath = Closed({
  id: Type.String({ pattern: UUID_PATTERN, description: 'The id of the component.' }),
})

const component = {
  id: Type.String({ description: 'The id of the component.' }),
  purl: text('The package URL in canonical form. Null without one.'),
  cpe: text('The CPE 2.3 name. Null unless it identifies the component.'),
  identity: OneOf(IDENTITIES, {
    description: 'What identifies the component: its package URL, its CPE, or its type, name and version.',
  }),
  type: Type.String({ description: 'The type of the package URL, else the type that documents state.' }),
  ecosystem: text('The ecosystem, as OSV names it. Null if it has no name there.'),
  namespace: text('The namespace of the package URL.'),
  name: Type.String({ description: 'The full name, as the ecosystem writes it.' }),
  version: text('The version. Null if documents state none.'),
  licenses,
  direct: Nullable(
    Type.Boolean({
      description: 'Whether it is a direct dependency in a newest document. Null if none states that.',
    }),
  ),
  repositories: Closed(
    {
      count: Type.Integer({ description: 'The number of repositories.' }),
      names: Type.Array(Type.String(), { description: 'The names of the first ten.' }),
    },
    { description: 'The repositories whose newest documents contain the component.' },
  ),
  first_seen_at: time('When a document first contained the component.'),
  last_seen_at: Nullable(time('When a newest document last contained the component. Null if none does.')),
}

export const Component = Closed(component, {
  $id: 'Component',
  description: 'A package at one version, as bills of materials name it.',
})

export const Occurrence = Closed(
  {
    repository: Type.String({ description: 'The repository as `owner/name`.' }),
    provider: Nullable(OneOf(PROVIDERS, { description: 'The code host of the repository. Null if it is not known.' })),
    repository_id: text('The id of the repository on the code host. Null if it is not known.'),
    category: text('The category of the document.'),
    git_ref: text('The Git ref that the document is about.'),
    tracked: Type.Boolean({ description: 'Whether the branch of the document is tracked.' }),
    lane: OneOf(['verified', 'key', 'person', 'untrusted'], { description: 'Who sent the document.' }),
    commit_sha: text('The commit of the newest document. Null if it is not known, or does not contain the component.'),
    run_id: text('The run that sent the newest document. Null unless a run sent it.'),
    path: text('The file that declares the component.'),
    scope: text('`required`, `optional` or `excluded`, as the document states it.'),
    direct: Nullable(Type.Boolean({ description: 'Whether it is a direct dependency. Null if that is not stated.' })),
    licenses,
    first_seen_at: time('When a document of this kind first contained the component.'),
    last_seen_at: time('When the newest document was seen, or the component was removed.'),
    removed_at: Nullable(time('When a document no longer contained the component. Null while it is present.')),
  },
  { $id: 'ComponentOccurrence', description: 'Where a component is, or was.' },
)

export const ComponentWithOccurrences = Closed(
  { ...component, occurrences: Type.Array(Occurrence, { description: 'The first 100 occurrences, newest first.' }) },
  { $id: 'ComponentWithOccurrences', description: 'A component, and where it is.' },
)
