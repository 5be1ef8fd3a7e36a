import { Type } from 'typebox'
import { Maybe, readAs, Text } from '../../../kit/payload.ts'

const File = Maybe(Type.Object({ path: Text }))
const Diffstat = Type.Object({ old: File, new: File })

/** The path of a changed file, and the former one of a moved file. */
export function parseDiffstat(value: unknown): { paths: string[] } {
  const { old: former, new: current } = readAs(Diffstat, value)
  return { paths: [current?.path, former?.path].filter((path) => path !== undefined) }
}
