// A runner of the storage-lifecycle suite with three of its families, written from
// the suite's GUIDE.md and README.md alone, with Go's standard library alone.
package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// suiteRoot is the suite that this runner was made for, given when it is built.
var suiteRoot = "unknown"

type object = map[string]any

type family func(input any) (output object, mutations []any, admitted bool)

var families = map[string]family{
	"derive_deadline":     deriveDeadline,
	"evaluate_expiry":     evaluateExpiry,
	"validate_object_key": validateObjectKey,
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == "-vectors" {
		checkVectors(os.Args[2])
		return
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	names := []string{"derive_deadline", "evaluate_expiry", "validate_object_key"}
	hello, _ := json.Marshal(object{"runner": "go", "suiteRoot": suiteRoot, "families": names})
	fmt.Fprintf(out, "%s\n", hello)
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadString('\n')
		if line != "" {
			fmt.Fprintln(out, answer(line))
		}
		if err == io.EOF {
			return
		}
	}
}

func answer(line string) string {
	question, err := parse(line)
	if err != nil {
		return "invalid"
	}
	run, known := families[question.(object)["family"].(string)]
	if !known {
		return "unsupported"
	}
	output, mutations, admitted := run(question.(object)["input"])
	if !admitted {
		return "invalid"
	}
	if mutations == nil {
		mutations = []any{}
	}
	return digest(object{"calls": []any{}, "output": output, "mutations": mutations})
}

// DD: when does an artifact expire?
func deriveDeadline(input any) (object, []any, bool) {
	data, ok := members(input, "object_id", "revision", "available_at", "plan_days", "tenant_days", "hold_until", "previous_deadline")
	if !ok || !isUuid(data["object_id"]) || !isInteger(data["revision"], 1, maxInteger) ||
		!isInteger(data["plan_days"], 1, 3650) || !(data["tenant_days"] == nil || isInteger(data["tenant_days"], 1, 3650)) {
		return nil, nil, false
	}
	for _, name := range []string{"available_at", "hold_until", "previous_deadline"} {
		if _, ok := instant(data[name]); !ok && data[name] != nil {
			return nil, nil, false
		}
	}
	nothing := func(code string) (object, []any, bool) {
		return object{"code": code, "deadline": nil, "source": nil}, nil, true
	}
	start, ok := instant(data["available_at"])
	if !ok {
		return nothing("NOT_STARTED")
	}
	days, source := integer(data["plan_days"]), "plan"
	if data["tenant_days"] != nil && integer(data["tenant_days"]) < days {
		days, source = integer(data["tenant_days"]), "tenant"
	}
	end := start + days*86_400_000
	if hold, ok := instant(data["hold_until"]); ok && hold > end {
		end, source = hold, "hold"
	}
	if previous, ok := instant(data["previous_deadline"]); ok && previous > end {
		end, source = previous, "announced"
	}
	if last, _ := instant("2099-12-31T23:59:59.999Z"); end > last {
		return nothing("OUT_OF_RANGE")
	}
	deadline := time.UnixMilli(end).UTC().Format("2006-01-02T15:04:05.000Z")
	var changes []any
	if data["previous_deadline"] != deadline {
		changes = append(changes, object{"op": "update", "target": "row", "id": data["object_id"], "field": "deadline",
			"from": data["previous_deadline"], "to": deadline, "revision": data["revision"]})
	}
	return object{"code": "OK", "deadline": deadline, "source": source}, changes, true
}

// EE: where does an artifact stand in its life?
func evaluateExpiry(input any) (object, []any, bool) {
	data, ok := members(input, "object", "now")
	if !ok {
		return nil, nil, false
	}
	now, isNow := instant(data["now"])
	row, ok := members(data["object"], "id", "state", "deadline", "hold", "revision")
	if !ok || !isNow {
		return nil, nil, false
	}
	deadline, hasDeadline := instant(row["deadline"])
	hold, isBoolean := row["hold"].(bool)
	state, _ := row["state"].(string)
	isState := regexp.MustCompile(`^(pending|available|missing|quarantined|expired|purged)$`).MatchString(state)
	if !isUuid(row["id"]) || !isState || !isBoolean || !(hasDeadline || row["deadline"] == nil) ||
		!isInteger(row["revision"], 1, maxInteger) {
		return nil, nil, false
	}
	result := func(code string, remaining any) object {
		allowed := state == "available" && code != "EXPIRED" && code != "INERT"
		return object{"code": code, "remaining_ms": remaining, "download_allowed": allowed}
	}
	switch {
	case state != "available" && state != "missing":
		return result("INERT", nil), nil, true
	case hold:
		return result("HELD", nil), nil, true
	case !hasDeadline:
		return result("NO_DEADLINE", nil), nil, true
	case now >= deadline:
		change := object{"op": "update", "target": "row", "id": row["id"], "field": "state",
			"from": state, "to": "expired", "revision": row["revision"]}
		return result("EXPIRED", number(0)), []any{change}, true
	case deadline-now <= 86_400_000:
		return result("EXPIRING", number(deadline-now)), nil, true
	}
	return result("ACTIVE", number(deadline-now)), nil, true
}

var kinds = map[string]string{"request_body": "json", "response_body": "txt", "export": "zip"}

// VK: one grammar of keys.
func validateObjectKey(input any) (object, []any, bool) {
	if data, ok := members(input, "mode", "tenant_id", "delivery_id", "attempt", "kind"); ok {
		kind, _ := data["kind"].(string)
		extension, known := kinds[kind]
		if data["mode"] != "build" || !isUuid(data["tenant_id"]) || !isUuid(data["delivery_id"]) ||
			!isInteger(data["attempt"], 1, 999) || !known {
			return nil, nil, false
		}
		key := fmt.Sprintf("v1/t/%s/d/%s/a/%d/%s.%s", data["tenant_id"], data["delivery_id"], integer(data["attempt"]), kind, extension)
		return object{"code": "OK", "key": key}, nil, true
	}
	data, ok := members(input, "mode", "tenant_id", "keys")
	if !ok || data["mode"] != "parse" || !isUuid(data["tenant_id"]) {
		return nil, nil, false
	}
	keys, ok := data["keys"].([]any)
	if !ok || len(keys) < 1 || len(keys) > 16 {
		return nil, nil, false
	}
	results := []any{}
	for _, one := range keys {
		key, ok := one.(string)
		if !ok || utf8.RuneCountInString(key) > 2048 {
			return nil, nil, false
		}
		code, parts := parseKey(key)
		if code == "OK" && parts["tenant_id"] != data["tenant_id"] {
			code = "WRONG_OWNER"
		}
		if code != "OK" {
			results = append(results, object{"code": code, "parts": nil})
		} else {
			results = append(results, object{"code": code, "parts": parts})
		}
	}
	return object{"results": results}, nil, true
}

var beyondASCII = regexp.MustCompile(`[^\x00-\x7f]`)
var badCharacter = regexp.MustCompile(`[^A-Za-z0-9._/-]`)
var attemptText = regexp.MustCompile(`^[1-9][0-9]{0,2}$`)

func parseKey(key string) (string, object) {
	switch {
	case key == "":
		return "EMPTY", nil
	case len(key) > 1024:
		return "TOO_LONG", nil
	case beyondASCII.MatchString(key):
		return "NOT_ASCII", nil
	case badCharacter.MatchString(key):
		return "BAD_CHARACTER", nil
	}
	segments := strings.Split(key, "/")
	for _, segment := range segments {
		if segment == "" || segment == "." || segment == ".." {
			return "BAD_SEGMENT", nil
		}
	}
	if len(segments) != 8 || segments[0] != "v1" || segments[1] != "t" || segments[3] != "d" || segments[5] != "a" {
		return "BAD_GRAMMAR", nil
	}
	if !isUuid(segments[2]) || !isUuid(segments[4]) {
		return "BAD_UUID", nil
	}
	if !attemptText.MatchString(segments[6]) {
		return "BAD_ATTEMPT", nil
	}
	for kind, extension := range kinds {
		if segments[7] == kind+"."+extension {
			return "OK", object{"tenant_id": segments[2], "delivery_id": segments[4], "attempt": json.Number(segments[6]), "kind": kind}
		}
	}
	return "BAD_KIND", nil
}

// Values.

const maxInteger = 1<<53 - 1

var plainInteger = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,15})$`)
var uuid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// members is the object of exactly these members, all of them required.
func members(value any, names ...string) (object, bool) {
	found, ok := value.(object)
	if !ok || len(found) != len(names) {
		return nil, false
	}
	for _, name := range names {
		if _, ok := found[name]; !ok {
			return nil, false
		}
	}
	return found, true
}

func isUuid(value any) bool {
	text, ok := value.(string)
	return ok && uuid.MatchString(text)
}

func isInteger(value any, min, max int64) bool {
	_, ok := value.(json.Number)
	return ok && integer(value) >= min && integer(value) <= max
}

func integer(value any) int64 {
	result, _ := strconv.ParseInt(string(value.(json.Number)), 10, 64)
	return result
}

func number(value int64) json.Number {
	return json.Number(strconv.FormatInt(value, 10))
}

// instant reads milliseconds since 1970 of a time that exists, from 2000 to 2099.
func instant(value any) (int64, bool) {
	const form = "2006-01-02T15:04:05.000Z"
	text, ok := value.(string)
	if !ok || len(text) != len(form) || !strings.HasPrefix(text, "20") {
		return 0, false
	}
	at, err := time.Parse(form, text)
	return at.UnixMilli(), err == nil && at.Format(form) == text
}

// Strict JSON, and its canonical bytes.

func parse(text string) (any, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	value, err := parseValue(decoder, 1)
	if err == nil {
		if _, err := decoder.Token(); err != io.EOF {
			return nil, fmt.Errorf("more after the end")
		}
		err = checkText(text)
	}
	return value, err
}

func parseValue(decoder *json.Decoder, depth int) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Number:
		value, err := strconv.ParseInt(string(token), 10, 64)
		if err != nil || !plainInteger.MatchString(string(token)) || value > maxInteger || value < -maxInteger {
			return nil, fmt.Errorf("no plain integer: %s", token)
		}
		return token, nil
	case json.Delim:
		if depth > 32 {
			return nil, fmt.Errorf("too deep")
		}
		if token == '[' {
			items := []any{}
			for decoder.More() {
				item, err := parseValue(decoder, depth+1)
				if err != nil {
					return nil, err
				}
				items = append(items, item)
			}
			_, err := decoder.Token()
			return items, err
		}
		found := object{}
		for decoder.More() {
			name, err := decoder.Token()
			if err != nil {
				return nil, err
			}
			if _, twice := found[name.(string)]; twice || name == "__proto__" {
				return nil, fmt.Errorf("the member %s", name)
			}
			if found[name.(string)], err = parseValue(decoder, depth+1); err != nil {
				return nil, err
			}
		}
		_, err := decoder.Token()
		return found, err
	}
	return token, nil
}

var escape = regexp.MustCompile(`\\(u[0-9a-fA-F]{4}|.)`)

// checkText refuses lone surrogates, which Go's decoder replaces without a word.
func checkText(text string) error {
	high := -1
	for _, place := range escape.FindAllStringIndex(text, -1) {
		one := text[place[0]:place[1]]
		code := int64(0)
		if one[1] == 'u' {
			code, _ = strconv.ParseInt(one[2:], 16, 32)
		}
		isLow := code >= 0xdc00 && code <= 0xdfff
		if (high == place[0]) != isLow {
			return fmt.Errorf("a lone surrogate")
		}
		high = -1
		if code >= 0xd800 && code <= 0xdbff {
			high = place[1]
		}
		if high == len(text) {
			return fmt.Errorf("a lone surrogate")
		}
	}
	if high != -1 {
		return fmt.Errorf("a lone surrogate")
	}
	return nil
}

func canonical(value any) string {
	switch value := value.(type) {
	case object:
		names := make([]string, 0, len(value))
		for name := range value {
			names = append(names, name)
		}
		// The suite's names are ASCII: bytes and UTF-16 units order them alike.
		sort.Strings(names)
		parts := make([]string, len(names))
		for index, name := range names {
			parts[index] = quote(name) + ":" + canonical(value[name])
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		parts := make([]string, len(value))
		for index, item := range value {
			parts[index] = canonical(item)
		}
		return "[" + strings.Join(parts, ",") + "]"
	case string:
		return quote(value)
	case json.Number:
		return string(value)
	case bool:
		return strconv.FormatBool(value)
	}
	return "null"
}

func quote(text string) string {
	var out bytes.Buffer
	out.WriteByte('"')
	for _, char := range text {
		short := strings.IndexRune("\b\t\n\f\r\"\\", char)
		switch {
		case short >= 0:
			out.WriteString([]string{`\b`, `\t`, `\n`, `\f`, `\r`, `\"`, `\\`}[short])
		case char < 0x20:
			fmt.Fprintf(&out, `\u%04x`, char)
		default:
			out.WriteRune(char)
		}
	}
	out.WriteByte('"')
	return out.String()
}

func digest(value any) string {
	sum := sha256.Sum256([]byte(canonical(value)))
	return hex.EncodeToString(sum[:])
}

func checkVectors(file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	parsed, err := parse(string(data))
	if err != nil {
		panic(err)
	}
	given := parsed.(object)
	failed := 0
	for _, one := range given["canonical"].([]any) {
		vector := one.(object)
		value, err := parse(vector["text"].(string))
		if err != nil || canonical(value) != vector["canonical"] || digest(value) != vector["sha256"] {
			fmt.Println("differs:", vector["title"], err)
			failed++
		}
	}
	for _, one := range given["refused"].([]any) {
		vector := one.(object)
		if _, err := parse(vector["text"].(string)); err == nil {
			fmt.Println("is read:", vector["title"])
			failed++
		}
	}
	if failed > 0 {
		os.Exit(1)
	}
	fmt.Println("all vectors hold")
}
