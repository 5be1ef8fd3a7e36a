import { parser } from '@prometheus-io/lezer-promql'

type Selector = { metric: string; labels: string[] }

/** What a PromQL expression reads. Throws for text that is no expression. */
export function readExpression(text: string): { selectors: Selector[]; grouped: string[] } {
  const selectors: Selector[] = []
  const grouped: string[] = []
  let isGrouping = false
  parser.parse(text).iterate({
    enter: ({ name, type, from, to }) => {
      const part = text.slice(from, to)
      if (type.isError) throw new Error(`This is not PromQL at character ${from}: ${text}`)
      if (name === 'GroupingLabels') isGrouping = true
      if (name === 'VectorSelector') selectors.push({ metric: '', labels: [] })
      const selector = selectors.at(-1)
      if (name === 'Identifier' && selector) selector.metric = part
      if (name !== 'LabelName') return
      if (isGrouping) grouped.push(part)
      else selector?.labels.push(part)
    },
    leave: ({ name }) => {
      if (name === 'GroupingLabels') isGrouping = false
    },
  })
  return { selectors, grouped }
}
