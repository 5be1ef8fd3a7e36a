import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import { lazy } from '../lazy.ts'

type Serializers = ReturnType<ReturnType<typeof SerializerSelector>>
type Serializer = ReturnType<Serializers>
type Route = Parameters<Serializers>[0]
type Options = Parameters<ReturnType<typeof SerializerSelector>>[1]
type Schemas = Record<string, unknown>

/**
 * Compiles Fastify's serializers of responses. Fastify's own factory compiles all of them at every
 * start, and gives all shared schemas to each, which checks them again. Here a response is compiled
 * when it is first sent and gets the shared schemas that it refers to, and equal schemas have one
 * serializer.
 */
export function createSerializers(shared: unknown, options: Options): Serializers {
  const compiled = new Map<string, Serializer>()
  return (route) => {
    const serializer = lazy(() => getSerializer(route))
    return (value) => serializer()(value)
  }

  function getSerializer(route: Route): Serializer {
    const text = JSON.stringify(route.schema)
    const known = compiled.get(text)
    if (known !== undefined) return known
    const serializer = SerializerSelector()(namedBy(text, shared as Schemas), options)(route)
    compiled.set(text, serializer)
    return serializer
  }
}

/** The shared schemas that a schema refers to, and those that these refer to. */
function namedBy(text: string, shared: Schemas): Schemas {
  const named: Schemas = {}
  const waiting = [text]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const [, id = ''] of next.matchAll(/"\$ref":"([^"#]+)/g)) {
      if (Object.hasOwn(named, id) || !Object.hasOwn(shared, id)) continue
      named[id] = shared[id]
      waiting.push(JSON.stringify(shared[id]))
    }
  }
  return named
}
