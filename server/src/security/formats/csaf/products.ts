import { createSelectionTree, type SelectionNode } from '../../../platform/json/json-selection.ts'
import type { SelectedValue } from '../../../platform/json/json-selector.ts'
import { getMember, toObjects, toText, toTexts } from '../../../platform/json/read-value.ts'
import { ReportError } from '../report/parsed-report.ts'
import { parseAddress, parsePurl, type Subject } from '../report/vex-statement.ts'

const BRANCH = 'product_tree.branches[*]'
const PATHS = [
  `${BRANCH}:type`,
  `${BRANCH}.category`,
  `${BRANCH}.product`,
  'product_tree.full_product_names[*]',
  'product_tree.relationships[*]',
  'product_tree.product_groups[*]',
]

/** Selects these paths and all products, also those of branches in branches at any depth. */
export function defineSelection(paths: readonly string[]): SelectionNode {
  const tree = createSelectionTree([...paths, ...PATHS])
  const branches = tree.members.get('product_tree')?.members.get('branches')
  if (branches !== undefined) branches.element?.members.set('branches', branches)
  return tree
}

/** The length of all kept texts together, in UTF-16 code units, and the number of products. */
const KEPT_TEXT_MAX = 16 * 1024 * 1024
const PRODUCTS_MAX = 100_000
const GROUPS_MAX = 10_000
/**
 * Vulnerabilities can name a group again and again. This is the number of ids that are read from
 * groups in all.
 */
const GROUP_IDS_READ_MAX = 2_000_000

/** A product; for a product inside another one, the names of both. */
type Product = { package: string | null; address: string | null; part?: string; whole?: string }
type Branch = { category: string | null; product: unknown }

/** The products of a document by their ids, and the groups of products. */
export class CsafProducts {
  readonly #products = new Map<string, Product>()
  readonly #groups = new Map<string, string[]>()
  /** The unfinished branches by depth. Their members are in any order. */
  readonly #open: (Branch | undefined)[] = []
  #textLeft = KEPT_TEXT_MAX
  #groupIdsLeft = GROUP_IDS_READ_MAX
  /** Whether a group was named that was not read, because groups were read too often. */
  hasUnread = false

  read({ path, keys, value }: SelectedValue): void {
    if (path.startsWith(BRANCH)) this.#readBranch(path, keys.length, value)
    else if (path.startsWith('product_tree.full_product_names')) this.#add(value)
    else if (path.startsWith('product_tree.relationships')) this.#relate(value)
    else if (path.startsWith('product_tree.product_groups')) this.#group(value)
  }

  /** Called when the product tree has ended. */
  finish(): void {
    this.#closeFrom(0)
  }

  /**
   * What a product id names; null if it cannot be identified. A component of a product is named by
   * its own package URL.
   */
  findSubject(id: string): Subject | null {
    const product = this.#products.get(id)
    if (product === undefined) return null
    const part = product.part === undefined ? undefined : this.#products.get(product.part)
    const whole = product.whole === undefined ? undefined : this.#products.get(product.whole)
    if (product.part === undefined) return toSubject(product.package, product.package ?? product.address)
    // Without a package URL of the component, the statement would be about the whole product.
    const inner = product.package ?? part?.package ?? null
    return inner === null ? null : toSubject(inner, whole?.package ?? whole?.address ?? null)
  }

  /** The products of a group. */
  listGroup(id: string): readonly string[] {
    const ids = this.#groups.get(id) ?? []
    if (ids.length > this.#groupIdsLeft) {
      this.hasUnread = true
      return []
    }
    this.#groupIdsLeft -= ids.length
    return ids
  }

  #readBranch(path: string, depth: number, value: unknown): void {
    if (path.endsWith(':type')) {
      this.#closeFrom(depth)
      this.#open[depth] = { category: null, product: null }
      return
    }
    const branch = this.#open[depth]
    if (branch === undefined) return
    if (path.endsWith('.category')) branch.category = toText(value)
    else branch.product = value
  }

  #closeFrom(depth: number): void {
    for (const branch of this.#open.splice(depth)) {
      if (branch === undefined || branch.product === null) continue
      this.#add(branch.product, branch.category === 'product_version_range')
    }
  }

  /**
   * A range of versions is not evaluated, because an error would hide a vulnerability: such a
   * product is not identified unless its package URL has a version.
   */
  #add(value: unknown, isRange = false, relation: Pick<Product, 'part' | 'whole'> = {}): void {
    const id = toText(getMember(value, 'product_id'))
    if (id === null) return
    const helper = getMember(value, 'product_identification_helper')
    const stated = [toText(getMember(helper, 'purl')), ...toTexts(getMember(helper, 'purls'))]
    const purl = stated.map(parsePurl).find((text) => text !== null) ?? null
    const uris = toObjects(getMember(helper, 'x_generic_uris')).map(({ uri }) => parseAddress(toText(uri)))
    const isUsable = !isRange || (purl !== null && hasVersion(purl))
    const address = isRange ? null : (uris.find((uri) => uri !== null) ?? null)
    this.#keep(id, { package: isUsable ? purl : null, address, ...relation })
  }

  /** `relates_to_product_reference` names the product that contains or runs the other one. */
  #relate(value: unknown): void {
    const part = toText(getMember(value, 'product_reference'))
    const whole = toText(getMember(value, 'relates_to_product_reference'))
    if (part !== null && whole !== null) this.#add(getMember(value, 'full_product_name'), false, { part, whole })
  }

  #keep(id: string, product: Product): void {
    if (this.#products.has(id)) return
    const texts = [id, product.package, product.address, product.part, product.whole]
    for (const text of texts) this.#textLeft -= text?.length ?? 0
    if (this.#textLeft < 0 || this.#products.size === PRODUCTS_MAX) throw TOO_MANY
    this.#products.set(id, product)
  }

  #group(value: unknown): void {
    const id = toText(getMember(value, 'group_id'))
    const ids = toTexts(getMember(value, 'product_ids'))
    if (id === null) return
    for (const text of [id, ...ids]) this.#textLeft -= text.length
    if (this.#textLeft < 0 || this.#groups.size === GROUPS_MAX) throw TOO_MANY
    this.#groups.set(id, ids)
  }
}

const TOO_MANY = new ReportError('The product tree of the document is too large. Split the document.')

function toSubject(purl: string | null, product: string | null): Subject | null {
  return purl === null && product === null ? null : { package: purl, product }
}

function hasVersion(purl: string): boolean {
  return /@./s.test(purl.slice(purl.lastIndexOf('/') + 1))
}
