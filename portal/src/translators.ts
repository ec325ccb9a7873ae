/**
 * A browser that translates the page puts elements of its own in place of texts.
 * React then inserts before a text, or removes one, that is in its parent no more,
 * which throws, and the page is gone: with it a secret that is shown once. What
 * is to be inserted goes to the end instead, and what was replaced stays.
 */
export function tolerateTranslators(): void {
  const { prototype } = Node;
  // oxlint-disable-next-line typescript/unbound-method -- called below with the node that they are of
  const { insertBefore, removeChild } = prototype;
  prototype.insertBefore = function insert<Kind extends Node>(
    this: Node,
    node: Kind,
    next: Node | null,
  ): Kind {
    const isThere = next === null || next.parentNode === this;
    insertBefore.call(this, node, isThere ? next : null);
    return node;
  };
  prototype.removeChild = function remove<Kind extends Node>(this: Node, node: Kind): Kind {
    if (node.parentNode === this) removeChild.call(this, node);
    return node;
  };
}
