// The arithmetic of a list that draws only the rows in view: heights, offsets, and which rows a stretch of pixels holds.

export class RowHeights {
	constructor(heights = []) {
		this.heights = heights;
		this.offsets = [0];
		this.known = 0; // offsets are right up to this row
	}

	get length() {
		return this.heights.length;
	}

	set(index, height) {
		if (this.heights[index] === height) return false;
		this.heights[index] = height;
		this.known = Math.min(this.known, index);
		return true;
	}

	// The pixels above a row; for the row after the last, all of them.
	offset(index) {
		for (; this.known < index; this.known++)
			this.offsets[this.known + 1] = this.offsets[this.known] + this.heights[this.known];
		return this.offsets[index];
	}

	get total() {
		return this.offset(this.length);
	}

	// The row that holds this pixel, within the list.
	at(pixel) {
		this.offset(this.length);
		let [low, high] = [0, Math.max(0, this.length - 1)];
		while (low < high) {
			const middle = (low + high + 1) >> 1;
			if (this.offsets[middle] <= pixel) low = middle;
			else high = middle - 1;
		}
		return low;
	}

	// The rows to draw: those between two pixels and `spare` pixels around them. The end is exclusive.
	range(top, height, spare) {
		if (this.length === 0) return { start: 0, end: 0 };
		return { start: this.at(top - spare), end: this.at(top + height + spare) + 1 };
	}
}

// Whether the end of the list is in view, so that it follows what is added.
export const isAtEnd = (scrollTop, height, total, slack = 48) => total - (scrollTop + height) <= slack;
