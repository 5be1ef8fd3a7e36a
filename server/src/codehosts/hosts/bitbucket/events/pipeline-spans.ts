import { type Static, Type } from 'typebox'
import { Maybe, readAs, Text } from '../../../kit/payload.ts'
import { bareUuid } from '../client/uuid.ts'

const Attribute = Type.Object({ key: Text, value: Maybe(Type.Object({ stringValue: Maybe(Text) })) })

/** A trace of OpenTelemetry as JSON. */
const Trace = Type.Object({
  resourceSpans: Type.Array(
    Type.Object({
      scopeSpans: Maybe(
        Type.Array(
          Type.Object({
            spans: Maybe(Type.Array(Type.Object({ name: Text, attributes: Maybe(Type.Array(Attribute)) }))),
          }),
        ),
      ),
    }),
  ),
})

/** The other spans are commands and containers of steps, which we do not read. */
const SPANS = ['bbc.pipeline_run', 'bbc.pipeline_step', 'bbc.step']

export type NamedPipeline = { repository: string; pipeline: string }

/** The pipelines of which an attempt or a step has ended, each once. */
export function pipelinesOf(payload: unknown): NamedPipeline[] {
  const { resourceSpans } = readAs(Trace, payload)
  const spans = resourceSpans.flatMap(({ scopeSpans }) => (scopeSpans ?? []).flatMap((scope) => scope.spans ?? []))
  const named = spans
    .filter(({ name }) => SPANS.includes(name))
    .flatMap(({ attributes }) => nameOf(attributes ?? []) ?? [])
  return [...new Map(named.map((one) => [one.pipeline, one])).values()]
}

function nameOf(attributes: Static<typeof Attribute>[]): NamedPipeline | null {
  const uuid = (name: string) => {
    const value = attributes.find(({ key }) => key === name)?.value?.stringValue
    return value ? bareUuid(value) : null
  }
  const repository = uuid('pipeline.repository.uuid')
  const pipeline = uuid('pipeline.uuid')
  return repository === null || pipeline === null ? null : { repository, pipeline }
}
