import { type Static, Type } from 'typebox'
import { Maybe, readAs, Text } from '../../../kit/payload.ts'

const Run = Type.Object({
  id: Text,
  status: Maybe(Text),
  checkConfigurationRef: Maybe(
    Type.Object({
      type: Maybe(Type.Object({ name: Maybe(Text) })),
      resource: Maybe(Type.Object({ type: Maybe(Text), id: Maybe(Text) })),
    }),
  ),
})

const Suite = Type.Object({ checkRuns: Maybe(Type.Array(Run)) })

/** A check of an environment, for one attempt of a stage. */
export type EnvironmentCheck = { id: string; environment: number; is_approval: boolean }

/** The checks of environments. A stage also waits for those of pools and service connections. */
export function parseCheckSuite(value: unknown): EnvironmentCheck[] {
  return (readAs(Suite, value).checkRuns ?? []).flatMap((run) => checkOf(run) ?? [])
}

function checkOf({ id, checkConfigurationRef: configured }: Static<typeof Run>): EnvironmentCheck | null {
  const environment = Number(configured?.resource?.id)
  if (configured?.resource?.type?.toLowerCase() !== 'environment' || !Number.isSafeInteger(environment)) return null
  return { id, environment, is_approval: configured.type?.name?.toLowerCase() === 'approval' }
}
