/** What waits behind older dispatches in the table, and until when. */
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { leasedDispatch } from "../../test/support/leased-dispatch.ts";
import { ALL_SLOTS, NO_SLOTS, slotOf, SlotSet } from "../queue/slots.ts";
import { newEndpointId, type EndpointId } from "../shared/id.ts";
import { CatchUp } from "./catch-up.ts";
import { weightOf } from "./shares.ts";

const dispatchOf = (endpointId: EndpointId, attempt = 1, body = "{}") =>
  leasedDispatch({ endpointId, attempt, body });

describe("catching up with the table", () => {
  const behind = newEndpointId();
  let level = newEndpointId();
  while (slotOf(level) === slotOf(behind)) level = newEndpointId();
  let catchUp: CatchUp;

  beforeEach(() => {
    catchUp = new CatchUp();
    catchUp.note([behind], ALL_SLOTS);
  });

  it("lets only those wait whose endpoint is behind", () => {
    const [waiting, entering] = [dispatchOf(behind), dispatchOf(level)];
    assert.deepEqual(catchUp.enter([waiting, entering]), { entering: [entering], refused: [] });
    assert.deepEqual(catchUp.foundAll(catchUp.lookBegins(), ALL_SLOTS), [waiting]);
    const later = dispatchOf(behind);
    assert.deepEqual(catchUp.enter([later]), { entering: [later], refused: [] });
  });

  it("does not trust a look that had begun before", () => {
    const look = catchUp.lookBegins();
    catchUp.note([behind], ALL_SLOTS);
    const waiting = dispatchOf(behind);
    assert.deepEqual(catchUp.enter([waiting]), { entering: [], refused: [] });
    assert.deepEqual(catchUp.foundAll(look, ALL_SLOTS), []);
    assert.deepEqual(catchUp.leftSome(look), []);
    const later = dispatchOf(behind);
    assert.deepEqual(catchUp.enter([later]), { entering: [], refused: [] });
    assert.deepEqual(catchUp.foundAll(catchUp.lookBegins(), ALL_SLOTS), [waiting, later]);
  });

  it("lets those go that waited before the endpoint fell behind again, and keeps the others", () => {
    const [first, second] = [dispatchOf(behind), dispatchOf(behind)];
    catchUp.enter([first]);
    const look = catchUp.lookBegins();
    catchUp.note([behind], ALL_SLOTS);
    catchUp.enter([second]);
    assert.deepEqual(catchUp.foundAll(look, ALL_SLOTS), [first]);
    assert.deepEqual(catchUp.foundAll(catchUp.lookBegins(), ALL_SLOTS), [second]);
  });

  it("trusts a look for the slots that it claimed in, and for no others", () => {
    const waiting = dispatchOf(behind);
    catchUp.enter([waiting]);
    assert.deepEqual(catchUp.foundAll(catchUp.lookBegins(), new SlotSet([slotOf(level)])), []);
    const later = dispatchOf(behind);
    assert.deepEqual(catchUp.enter([later]), { entering: [], refused: [] });
    assert.deepEqual(catchUp.foundAll(catchUp.lookBegins(), new SlotSet([slotOf(behind)])), [waiting, later]);
  });

  it("after a look that left some, gives up those that waited, whose lane parks what follows", () => {
    const waiting = dispatchOf(behind);
    catchUp.enter([waiting]);
    assert.deepEqual(catchUp.leftSome(catchUp.lookBegins()), [waiting]);
    const later = dispatchOf(behind);
    assert.deepEqual(catchUp.enter([later]), { entering: [later], refused: [] });
  });

  it("after a look that left some, also gives up those of the same endpoint that came during the look", () => {
    const [first, second] = [dispatchOf(behind), dispatchOf(behind)];
    catchUp.enter([first]);
    const look = catchUp.lookBegins();
    catchUp.note([behind], ALL_SLOTS);
    catchUp.enter([second]);
    // Its lane may be empty again before the next look, and then takes what follows at once.
    assert.deepEqual(catchUp.leftSome(look), [first, second]);
    const later = dispatchOf(behind);
    assert.deepEqual(catchUp.enter([later]), { entering: [later], refused: [] });
  });

  it("lets so much wait as memory allows, and then lanes park what follows, in a second round too", () => {
    const large = () => dispatchOf(behind, 1, "x".repeat(3 * 1024 * 1024));
    for (const round of [1, 2]) {
      const [first, second, third, later] = [large(), large(), large(), large()];
      assert.deepEqual(catchUp.enter([first, second]), { entering: [], refused: [] }, `round ${round}`);
      assert.deepEqual(catchUp.enter([third, later]), { entering: [later], refused: [first, second, third] });
      catchUp.note([behind], ALL_SLOTS);
    }
    catchUp.enter([large(), large()]);
    catchUp.foundAll(catchUp.lookBegins(), ALL_SLOTS);
    catchUp.note([behind], ALL_SLOTS);
    assert.deepEqual(catchUp.enter([large(), large()]).refused, []);
    assert.equal(catchUp.leave(() => true).length, 2);
    catchUp.note([behind], ALL_SLOTS);
    const withdrawn = large();
    assert.deepEqual(catchUp.enter([withdrawn, large()]).refused, []);
    assert.deepEqual(catchUp.withdraw(withdrawn), [withdrawn]);
    assert.deepEqual(catchUp.enter([large()]).refused, []);
  });

  it("lets 8 MiB wait, and not a byte more", () => {
    const first = dispatchOf(behind, 1, "x".repeat(8 * 1024 * 1024 - 2 * weightOf({ body: "" })));
    const [second, third] = [dispatchOf(behind, 1, ""), dispatchOf(behind, 1, "")];
    assert.deepEqual(catchUp.enter([first, second]), { entering: [], refused: [] });
    assert.deepEqual(catchUp.enter([third]), { entering: [], refused: [first, second, third] });
  });

  it("stays behind after a look that left some, if nothing waited", () => {
    catchUp.leftSome(catchUp.lookBegins());
    assert.deepEqual(catchUp.enter([dispatchOf(behind)]).entering, []);
  });

  it("names the endpoints that it gave up until what is older is parked, and none of slots that leave", () => {
    const given = [dispatchOf(behind), dispatchOf(behind)];
    catchUp.enter(given);
    assert.deepEqual(catchUp.givenUp(), []);
    catchUp.leftSome(catchUp.lookBegins());
    const keys = [{ tenantId: given[0]?.tenantId, endpointId: behind }];
    assert.deepEqual(catchUp.givenUp(), keys);
    assert.deepEqual(catchUp.givenUp(), keys);
    const before = catchUp.givenUp();
    catchUp.note([behind], ALL_SLOTS);
    catchUp.enter([dispatchOf(behind)]);
    catchUp.leftSome(catchUp.lookBegins());
    catchUp.oldestParked(before);
    assert.deepEqual(catchUp.givenUp(), keys);
    catchUp.oldestParked(catchUp.givenUp());
    assert.deepEqual(catchUp.givenUp(), []);
    catchUp.note([behind], ALL_SLOTS);
    catchUp.enter([dispatchOf(behind)]);
    catchUp.leftSome(catchUp.lookBegins());
    catchUp.leave((slot) => slot !== slotOf(behind));
    assert.deepEqual(catchUp.givenUp(), keys);
    catchUp.leave((slot) => slot === slotOf(behind));
    assert.deepEqual(catchUp.givenUp(), []);
  });

  it("puts waiting ones in front of younger first attempts of their endpoint that a look brings", () => {
    const older = dispatchOf(behind);
    const [first, second] = [dispatchOf(behind), dispatchOf(behind)];
    catchUp.enter([first, second]);
    const [retry, ofOther, younger] = [dispatchOf(behind, 2), dispatchOf(level), dispatchOf(behind)];
    assert.deepEqual(catchUp.withOlder([older, retry, ofOther]), [older, retry, ofOther]);
    assert.deepEqual(catchUp.withOlder([younger]), [first, second, younger]);
    assert.deepEqual(catchUp.withOlder([younger]), [younger]);
  });

  it("notes endpoints of slots that this worker has, or that arrive", () => {
    const other = new CatchUp();
    other.note([behind], NO_SLOTS);
    assert.equal(other.enter([dispatchOf(behind)]).entering.length, 1);
    other.arrive(new SlotSet([slotOf(behind)]));
    other.note([behind, level], NO_SLOTS);
    assert.equal(other.enter([dispatchOf(behind)]).entering.length, 0);
    assert.equal(other.enter([dispatchOf(level)]).entering.length, 1);
    other.arrived();
    other.leave(() => true);
    other.note([behind], NO_SLOTS);
    assert.equal(other.enter([dispatchOf(behind)]).entering.length, 1);
  });

  it("takes out what is withdrawn, and forgets slots that leave", () => {
    const [withdrawn, leaving] = [dispatchOf(behind), dispatchOf(behind)];
    catchUp.enter([withdrawn, leaving]);
    assert.deepEqual(catchUp.withdraw(withdrawn), [withdrawn]);
    assert.deepEqual(
      catchUp.leave((slot) => slot !== slotOf(behind)),
      [],
    );
    assert.deepEqual(
      catchUp.leave((slot) => slot === slotOf(behind)),
      [leaving],
    );
    const later = dispatchOf(behind);
    assert.deepEqual(catchUp.enter([later]), { entering: [later], refused: [] });
  });
});
