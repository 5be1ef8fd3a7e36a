import { type Static, Type } from 'typebox'
import { Reason } from '../../audit/audit.schema.ts'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'

export const ENVIRONMENT_ENTRIES_MAX = 100

export const EXPOSURES = ['internet', 'internal', 'none'] as const
const EXPOSURE_TEXT = 'Who can reach what runs there: `internet`, `internal` for a private network, or `none`'

/** The exposure of an environment, for objects that show it. */
export const ShownExposure = OneOf([...EXPOSURES, 'unknown'], {
  description: `${EXPOSURE_TEXT}; \`unknown\` if nobody has stated it. It is that of the environment as of now.`,
})
export type Exposure = Static<typeof ShownExposure>

const Glob = (description: string) => Type.String({ minLength: 1, maxLength: 200, description })

const NAMES = {
  environment: Glob('A name or a glob of environments. `*` does not match a slash.'),
  repository: Nullable(Glob('A glob of repositories, with or without their host. Null is every repository.')),
}

const FACTS = {
  exposure: Nullable(OneOf(EXPOSURES, { description: `${EXPOSURE_TEXT}. Null if it is not stated.` })),
  criticality: Nullable(
    Type.Integer({
      minimum: 1,
      maximum: 5,
      description: 'How much depends on it, from 1 to 5 (most). Null if it is not stated.',
    }),
  ),
  production: Nullable(
    Type.Boolean({
      description: 'Whether it is production. Null if that is not stated: then its name decides.',
    }),
  ),
}

/** The body of setEnvironmentFacts. */
export const GivenEnvironment = Closed({
  environment: NAMES.environment,
  ...Type.Partial(Type.Object({ repository: NAMES.repository, ...FACTS })).properties,
  reason: Reason,
})
export type GivenEnvironment = Omit<Static<typeof GivenEnvironment>, 'reason'>

/** The body of moveEnvironmentFacts. */
export const EnvironmentMove = Closed({
  position: Type.Integer({
    minimum: 1,
    maximum: ENVIRONMENT_ENTRIES_MAX,
    description: 'The new position. The first is 1; a position behind the last is the last.',
  }),
  reason: Reason,
})

const Time = (description: string) => Type.Unsafe<Date>({ ...Timestamp, description })

export const EnvironmentEntry = Closed(
  {
    id: Type.String({ description: 'The id of the entry.' }),
    position: Type.Integer({ minimum: 1, description: 'The position of the entry. The first that matches counts.' }),
    ...NAMES,
    ...FACTS,
    created_at: Time('When the entry was made.'),
    updated_at: Time('When its facts were last changed.'),
  },
  { $id: 'EnvironmentEntry', description: 'What is stated about the environments that its globs match.' },
)
export type EnvironmentEntry = Static<typeof EnvironmentEntry>
