import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'

type Serializers = ReturnType<ReturnType<typeof SerializerSelector>>
type Options = Parameters<ReturnType<typeof SerializerSelector>>[1]
type Schemas = Record<string, unknown>

/**
 * Compiles Fastify's serializers of responses. Fastify's own factory gives all shared schemas to
 * each response, which checks them again: this took half of the time to start the API. Here a
 * response gets the shared schemas that it refers to, and equal schemas have one serializer.
 */
export function compileSerializers(shared: unknown, options: Options): Serializers {
  const compiled = new Map<string, ReturnType<Serializers>>()
  return (route) => {
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
