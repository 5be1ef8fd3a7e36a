import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type GraphEdge, type GraphNode, inOrder, nodesBefore, usableEdges } from './graph.ts'
import { layOut, NODE_HEIGHT, NODE_WIDTH, reduceEdges } from './graph-layout.ts'

const nodesOf = (...ids: string[]): GraphNode[] =>
  ids.map((id) => ({ id, label: id, tone: 'neutral', icon: () => null }))
const edgesOf = (...pairs: string[]): GraphEdge[] =>
  pairs.map((pair) => ({ from: pair.split('>')[0] as string, to: pair.split('>')[1] as string }))
const order = (nodes: GraphNode[], edges: GraphEdge[]) => inOrder(nodes, nodesBefore(nodes, edges)).map(({ id }) => id)

test('each layer is to the right of the layers before it, and no two nodes overlap', () => {
  const nodes = nodesOf('build', 'unit', 'lint', 'deploy')
  const { places, paths, width } = layOut(nodes, edgesOf('build>unit', 'build>lint', 'unit>deploy', 'lint>deploy'))
  const [build, unit, lint, deploy] = places as [Place, Place, Place, Place]
  assert.ok(build.x + NODE_WIDTH < unit.x && unit.x + NODE_WIDTH < deploy.x)
  assert.equal(unit.x, lint.x)
  assert.ok(Math.abs(unit.y - lint.y) >= NODE_HEIGHT)
  assert.ok(deploy.x + NODE_WIDTH <= width)
  assert.equal(paths.length, 4)
  assert.ok(paths.every((path) => path.startsWith('M') && !path.includes('NaN')))
})
type Place = { x: number; y: number }

test('a cycle, and a graph without edges or nodes, have a layout', () => {
  const nodes = nodesOf('a', 'b', 'c')
  const { places, paths } = layOut(nodes, edgesOf('a>b', 'b>c', 'c>a'))
  assert.equal(new Set(places.map(({ x }) => x)).size, 3)
  assert.ok(paths.every((path) => path.startsWith('M')))
  assert.equal(layOut(nodes, []).places.length, 3)
  assert.deepEqual(layOut([], []).places, [])
})

test('edges of unknown nodes, of a node with itself, and repeated ones are left out', () => {
  const edges = edgesOf('a>b', 'a>b', 'a>a', 'a>nobody', 'nobody>b', 'b>a')
  assert.deepEqual(usableEdges(nodesOf('a', 'b'), edges), edgesOf('a>b', 'b>a'))
})

test('names of the language are names of nodes like others', () => {
  const nodes = nodesOf('__proto__', 'constructor')
  const edges = usableEdges(nodes, edgesOf('__proto__>constructor'))
  assert.equal(edges.length, 1)
  assert.ok(layOut(nodes, edges).places.every(({ x }) => Number.isFinite(x)))
})

test('the list has each node after those before it', () => {
  assert.deepEqual(order(nodesOf('deploy', 'unit', 'build'), edgesOf('build>unit', 'unit>deploy')), [
    'build',
    'unit',
    'deploy',
  ])
})

test('the list has every node of a cycle once, and a long chain does not overflow', () => {
  assert.deepEqual(order(nodesOf('a', 'b'), edgesOf('a>b', 'b>a')).toSorted(), ['a', 'b'])
  const ids = Array.from({ length: 20_000 }, (_, index) => `n${index}`)
  const chain = ids.slice(1).map((id, index) => ({ from: id, to: `n${index}` }))
  assert.equal(order(nodesOf(...ids), chain)[0], 'n19999')
})

test('an edge that a longer path repeats is left out', () => {
  assert.deepEqual(reduceEdges(edgesOf('a>c', 'a>b', 'b>c', 'c>d', 'a>d')), edgesOf('a>b', 'b>c', 'c>d'))
  assert.deepEqual(reduceEdges(edgesOf('a>b', 'b>a')), edgesOf('a>b', 'b>a'))
})
