import { type SelectionNode, selectionTree } from '../../../platform/json/json-selection.ts'

/**
 * A selection in which the arrays `components` and `services` are looked for in their own elements too, at any depth, and components in
 * the document's subject. What is found there has the same path as at the top; the indexes on the way tell the depth.
 */
export function nestedSelection(paths: readonly string[]): SelectionNode {
  const tree = selectionTree(paths)
  const subject = tree.members.get('metadata')?.members.get('component')
  const components = tree.members.get('components')
  const services = tree.members.get('services')
  if (components !== undefined) {
    components.element?.members.set('components', components)
    subject?.members.set('components', components)
  }
  if (services !== undefined) services.element?.members.set('services', services)
  return tree
}
